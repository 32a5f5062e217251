"""Exact strings: what a text holds that is worth nothing unless it is kept to the letter. Pure."""
