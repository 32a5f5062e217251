"""Stores whose files can be searched."""

from __future__ import annotations

from tests.forgetting.conftest import shelf

__all__ = ["shelf"]
