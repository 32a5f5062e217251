"""How Hypothesis runs here: on a loaded machine a slow example is no failure."""

from __future__ import annotations

from hypothesis import HealthCheck, settings

settings.register_profile("ledger", deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("ledger")
