"""A request has to be JSON in UTF-8 that a strict parser takes."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from projections.invariants.shapes import Violation
from projections.render.renderer import request_bytes


def unicode_violations(request: Mapping[str, Any]) -> tuple[Violation, ...]:
    """Whether its bytes hold a lone surrogate, even as an escape, or are no JSON."""
    try:
        json.dumps(json.loads(request_bytes(dict(request)), parse_int=str), ensure_ascii=False).encode()
    except (TypeError, ValueError) as error:
        return (Violation("IsUnicode", "$", str(error)),)
    return ()
