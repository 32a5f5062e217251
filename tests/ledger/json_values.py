"""Any value that JSON can hold, as Hypothesis makes them."""

from __future__ import annotations

from decimal import Decimal

from hypothesis import strategies as st

texts = st.text(st.characters(codec=None, exclude_categories=()), max_size=12)
"""Any Python text: NUL, line separators, lone surrogates and pairs of them."""

numbers = st.one_of(
    st.integers(),
    st.integers(min_value=-(2**300), max_value=2**300),
    st.floats(allow_nan=False, allow_infinity=False),
    st.decimals(allow_nan=False, allow_infinity=False),
    st.sampled_from([Decimal("4050.10"), Decimal("1E+400"), Decimal("-0.0"), 5e-324, 1e16, 2**53 + 1, -0.0]),
)

json_values = st.recursive(
    st.none() | st.booleans() | numbers | texts,
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(texts, inner, max_size=4),
    max_leaves=12,
)
"""Any plain JSON value of Python, numbers as int, float or Decimal."""
