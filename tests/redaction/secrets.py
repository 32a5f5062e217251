"""Secrets that are none, as they would come."""

from __future__ import annotations

PEM_LINE = "MIIEpAIBAAKCAQEA7bq1Zr0yN2vX8o1u5tWcQe9sHk4LrTgYpJmDfVx3aBnC6KiE"
PEM = f"-----BEGIN RSA PRIVATE KEY-----\n{PEM_LINE}\n{PEM_LINE[::-1]}\n-----END RSA PRIVATE KEY-----"
LIVE_KEY = "sk-live-4eC39HqLyjWDarjtT1zdp7dc"
DATABASE = "postgres://app:pr0ductionPa55@db.internal:5432/orders"
PASSWORD = "Ap0ll0T3st2023!"

DUMP = f"""\
STRIPE_KEY={LIVE_KEY}
DATABASE_URL={DATABASE}
TLS_KEY={PEM}
LOG_LEVEL=info
"""
NEEDLES = (LIVE_KEY, "pr0ductionPa55", PEM_LINE, PEM_LINE[::-1], PASSWORD)
"""What must be found nowhere."""
