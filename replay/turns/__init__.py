"""The turns of ledgers: where they stand, how they read and what they cost, at the cost of those that are asked for."""
