"""Named limits of what one request may bring in. Passing one raises ``LimitExceeded`` and writes nothing."""

from __future__ import annotations

MAX_JSON_DEPTH = 200
"""Nested arrays and objects in one foreign JSON value."""

MAX_PAYLOAD_BYTES = 64 * 1024 * 1024
"""Encoded bytes of one event; larger content belongs into an artifact."""

MAX_ARTIFACT_BYTES = 256 * 1024 * 1024
"""Raw bytes of one artifact."""

MAX_EVENTS_PER_COMMAND = 100_000
"""Events of one append."""

MAX_TURN = 2**31 - 1
"""The number of a turn."""

MAX_NAME_CHARACTERS = 512
"""Characters of a ledger's name, a field's name, an idempotency key or an id from elsewhere."""

MAX_TAGS = 32
"""Subjects, or labels, of one command."""
