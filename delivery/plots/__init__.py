"""Pictures of answers: each one file that needs nothing beside it."""
