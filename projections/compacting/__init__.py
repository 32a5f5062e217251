"""How turns that left the tail become short: verdicts become kept turns, lines, exact strings and stubs. Pure."""
