"""A value that holds for a time in the world says so on its line, and no other line changes."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta, timezone

import pytest

from ledger import JsonText, connect
from ledger.events import FactSet
from projections.state_block import BlockOptions
from replay import view
from tests.projections.block_reading import FORMS, Form, Said, inside, read
from tests.projections.histories import ticking

Times = tuple[datetime | None, datetime | None]

NIGHT = datetime(2031, 3, 1, tzinfo=UTC)
LATER = datetime(2031, 3, 1, 9, 15, tzinfo=timezone(timedelta(hours=5, minutes=30)))
NAMES = ["tariff", "from", "until"]


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("provenance", [True, False])
@pytest.mark.parametrize(
    ("times", "valid"),
    [
        ((NIGHT, None), ("2031-03-01", None)),
        ((None, NIGHT), (None, "2031-03-01")),
        ((NIGHT, LATER), ("2031-03-01", "2031-03-01T03:45:00Z")),
        ((NIGHT, NIGHT.replace(microsecond=500)), ("2031-03-01", "2031-03-01T00:00:00.000500Z")),
        ((None, datetime.max.replace(tzinfo=UTC)), (None, "9999-12-31T23:59:59.999999Z")),
    ],
)
def test_when_a_value_holds_stands_on_its_line(
    form: Form, provenance: bool, times: Times, valid: tuple[str | None, str | None]
) -> None:
    options = BlockOptions(form=form, provenance=provenance)
    with connect(":memory:", clock=ticking()) as store:
        case = store.ledger("case")
        for name in ("plain", *NAMES):
            case.set_fact(name, "A4", source="user")
        before = view(store, "case").state().shown(options).text
        for name in NAMES:
            case.set_fact(name, "A4", source="user", supersedes="A4", valid_from=times[0], valid_to=times[1])
        after = view(store, "case").state().shown(options).text
    lines = [line for line in read(after, form=form, provenance=provenance) if isinstance(line, Said)]
    assert [(line.name, line.value) for line in lines] == [(name, "A4") for name in ("plain", *NAMES)]
    assert [line.valid for line in lines] == [(None, None), valid, valid, valid]
    pairs = list(zip(inside(before), inside(after), strict=True))
    assert [one != other for one, other in pairs if one][-4:] == [False, True, True, True]


@pytest.mark.parametrize("form", FORMS)
def test_a_moment_that_is_none_in_utc_is_shown_at_its_own_offset(form: Form) -> None:
    with connect(":memory:", clock=ticking()) as store:
        told = {"field": "tariff", "value": JsonText.of("A4"), "source": "user", "valid_from": "0001-01-01T00:00:00+02:00"}
        store.ledger("case").append([FactSet.model_validate(told)])
        (line,) = read(view(store, "case").state().shown(BlockOptions(form=form)).text, form=form, provenance=True)
    assert isinstance(line, Said)
    assert line.valid == ("0001-01-01T00:00:00+02:00", None)
