"""What is said of fields, found by an index instead of by reading a ledger."""
