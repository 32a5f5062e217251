"""What is kept of ledgers beside the record, in the store and in this process: derived, bounded, purged by a forgetting."""
