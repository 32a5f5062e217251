"""The examples that ``--help`` shows: each can be copied, once the demonstration has recorded its case."""

from __future__ import annotations

from typing import Final

_STORE: Final = "export CONTEXT_LEDGER_STORE=context-ledger-demo.db"

START: Final = (
    "context-ledger demo",
    _STORE,
    "context-ledger ledgers",
    "context-ledger state refund-ORD-88213",
)
"""How to begin."""

_DECLARE: Final = (
    """echo '{"title":"Parcel","properties":{"kg":{"type":"number"}}}' > p.json""",
    "context-ledger declare parcel-7 p.json",
)

EXAMPLES: Final[dict[str, tuple[str, ...]]] = {
    "demo": ("context-ledger demo",),
    "import": (
        """echo '[{"role": "user", "content": "Where is my parcel?"}]' > talk.json""",
        "context-ledger import talk.json --ledger parcel",
        "context-ledger import - --ledger parcel < talk.json",
    ),
    "init": ("context-ledger --store cases.db init",),
    "ledgers": (_STORE, "context-ledger ledgers"),
    "show": (_STORE, "context-ledger show refund-ORD-88213 --at turn:4"),
    "state": (
        _STORE,
        "context-ledger state refund-ORD-88213 --at 12",
        "context-ledger state refund-ORD-88213 --form markdown --no-provenance",
    ),
    "window": (
        _STORE,
        "context-ledger window refund-ORD-88213 --tail 4 --budget 2000",
        "context-ledger window refund-ORD-88213 --render anthropic --json",
        "context-ledger window refund-ORD-88213 --policy coding --record",
        "context-ledger window refund-ORD-88213 --at turn:10 --against sliding",
    ),
    "policy": (
        _STORE,
        "context-ledger policy support > mine.toml",
        "context-ledger policy mine.toml --json",
        "context-ledger window refund-ORD-88213 --policy mine.toml --turns",
    ),
    "classify": (_STORE, "context-ledger classify refund-ORD-88213 6 keep --because 'no credit'"),
    "explain": (_STORE, "context-ledger explain refund-ORD-88213 amount"),
    "diff": (_STORE, "context-ledger diff refund-ORD-88213 --from turn:10 --to turn:12"),
    "find": (_STORE, "context-ledger find amount '4,050 INR'", "context-ledger find order_id"),
    "search": (
        _STORE,
        "context-ledger search refund-ORD-88213 'what did the statement say?'",
        "context-ledger search --all ORD-88213 --kind result",
    ),
    "fetch": (
        _STORE,
        "context-ledger fetch refund-ORD-88213 r_16",
        "context-ledger fetch refund-ORD-88213 r_16 --raw | wc -c",
        "context-ledger fetch refund-ORD-88213 ev_19",
    ),
    "audit": (
        _STORE,
        "context-ledger audit refund-ORD-88213",
        "context-ledger audit --all --policy research --plot audit.svg",
    ),
    "set": (
        _STORE,
        "context-ledger set refund-ORD-88213 delivery express",
        "context-ledger set refund-ORD-88213 delivery standard --was express \\",
        "    --because 'the customer is not in a hurry'",
    ),
    "confirm": (_STORE, "context-ledger confirm refund-ORD-88213 customer_id"),
    "retract": (_STORE, "context-ledger retract refund-ORD-88213 charge --because 'it was void'"),
    "resolve": (
        _STORE,
        "context-ledger resolve refund-ORD-88213 con_22 --because 'two countries'",
    ),
    "declare": (_STORE, *_DECLARE),
    "schema": (_STORE, *_DECLARE, "context-ledger schema parcel-7"),
    "extract": (_STORE, *_DECLARE, "context-ledger extract parcel-7 --rules"),
    "compact": (
        _STORE,
        "context-ledger compact refund-ORD-88213 --complete --dry-run",
        "context-ledger compact refund-ORD-88213 --complete --extractive 2> log",
    ),
    "rejected": (_STORE, "context-ledger rejected refund-ORD-88213"),
    "handoff": (_STORE, "context-ledger handoff refund-ORD-88213 --at turn:10"),
    "verify": (
        _STORE,
        "context-ledger verify --windows",
        "context-ledger verify refund-ORD-88213 --json",
    ),
    "forget": (
        _STORE,
        "context-ledger forget refund-ORD-88213 --turns 7 --dry-run",
        "context-ledger forget --pending",
        "context-ledger forget refund-ORD-88213 --ids ev_19 --reason 'withdrawn'",
        "context-ledger forget --jobs",
    ),
    "retain": (
        _STORE,
        "context-ledger retain refund-ORD-88213 --set '1 year after close'",
        "context-ledger retain refund-ORD-88213 --rules",
        "context-ledger retain --dry-run",
    ),
    "hold": (
        _STORE,
        "context-ledger hold refund-ORD-88213 --place 'case 77 in court'",
        "context-ledger hold refund-ORD-88213 --lift 'case 77 is closed'",
    ),
}
"""The lines of each command, by its name."""


def shown(lines: tuple[str, ...]) -> str:
    """The paragraph of ``--help`` with these lines, which are not wrapped."""
    heading = "Examples, after context-ledger demo:" if _STORE in lines and lines != START else "Examples:"
    return "\n".join(("\b", heading, *(f"  {line}" for line in lines)))
