"""The index of searches, and what it finds."""
