"""Ways to have turns told in fewer words; what one makes is judged and recorded by ``replay.summarising``."""
