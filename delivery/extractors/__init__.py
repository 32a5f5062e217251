"""Extractors that ask somebody else, a model for instance: one file each. What needs a library of a vendor is an extra."""
