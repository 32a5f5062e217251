"""The audit: where the tokens of a conversation go. Pure."""
