"""Reproducible benchmarks, each beside its floor in the same run: medians and ratios, never a verdict.

``python -m bench`` runs all, ``python -m bench append window`` those named.
"""
