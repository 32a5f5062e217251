"""Searching the record: what of it is searched, how a question reads, and which answers stand first. Pure."""
