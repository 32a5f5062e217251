"""What a window is not built from: refused by the name of the argument, with what to give in its place."""

from __future__ import annotations

import pytest

from ledger import JsonText, Ledgers
from ledger.errors import InvalidInput
from replay import view

TOOL = {"name": "x"}


@pytest.mark.parametrize("tools", ["x", TOOL, ["x"], [TOOL, None], 5, (TOOL,), JsonText('"x"'), JsonText('{"name": "x"}')])
def test_what_is_no_list_of_definitions_of_tools(store: Ledgers, tools: object) -> None:
    store.ledger("case").record_turn("user", "Survey the quays.")
    with pytest.raises(InvalidInput, match=r"^tools is .*: give the definitions .* in one list of objects$") as refused:
        view(store, "case").window(tools=tools)
    assert refused.value.path == "tools"


@pytest.mark.parametrize("tools", [[], [TOOL], JsonText('[ {"name": "x"}]')])
def test_a_list_of_definitions_goes_with_the_request_as_it_is(store: Ledgers, tools: object) -> None:
    store.ledger("case").record_turn("user", "Survey the quays.")
    assert view(store, "case").window(tools=tools).request["tools"] == (tools.value if isinstance(tools, JsonText) else tools)
