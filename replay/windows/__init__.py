"""Windows out of ledgers: their scenes, and what is compacted, kept a segment at a time."""
