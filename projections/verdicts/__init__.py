"""What a turn is worth to a later call: the verdicts of ordered rules on turns. Pure functions of turns and rules."""
