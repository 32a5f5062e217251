"""A request has to be JSON in UTF-8 that a strict parser takes."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from projections.invariants.shapes import Violation
from projections.render.renderer import plain


def unicode_violations(request: Mapping[str, Any]) -> tuple[Violation, ...]:
    """Whether it holds a lone surrogate, even as an escape, or what is no JSON."""
    try:
        json.dumps(plain(dict(request)), ensure_ascii=False, allow_nan=False).encode()
    except (TypeError, ValueError) as error:
        return (Violation("IsUnicode", "$", str(error)),)
    return ()
