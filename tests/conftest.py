"""What all tests can ask for."""

from __future__ import annotations

pytest_plugins = ["tests.postgres.server"]
