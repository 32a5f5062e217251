"""What the record means: pure folds over events, and the texts made of them.

Nothing here opens a store, reads a clock or counts tokens by itself: what a fold needs, it is given.
"""
