"""What stands in a ledger at a version: its state, evidence and contradictions, at their own cost."""
