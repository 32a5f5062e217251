"""Sessions of Claude Code that are imported while they are being written."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Any

from delivery.importers.importing import import_file
from ledger import Ledgers
from tests.delivery.importers.test_claude_code import Session


def just_said(session: Session, *, ago: timedelta = timedelta(0)) -> Session:
    """The session, as if its last record had been written now."""
    session.records[-1]["timestamp"] = (datetime.now(UTC) - ago).isoformat()
    return session


def test_a_text_that_was_only_just_said_waits_for_its_call(write: Any, store: Ledgers) -> None:
    session = Session()
    session.user("u1", "go")
    session.text("a1", "msg_1", "I look.")
    result = import_file(store, write(str(just_said(session))))
    assert result.events == 1
    assert [skipped.reason for skipped in result.skipped] == [
        "the last message may go on: it is told when it does, or 5 minutes after it was said"
    ]
    session.call("a2", "msg_1", "t1", stop="tool_use")
    session.result("u2", "t1")
    session.text("a3", "msg_2", "It is done.", stop="end_turn")
    assert import_file(store, write(str(just_said(session)))).events == 3


def test_a_text_that_nothing_followed_for_minutes_is_told(write: Any, store: Ledgers) -> None:
    session = Session()
    session.user("u1", "go")
    session.text("a1", "msg_1", "Bye.")
    assert import_file(store, write(str(just_said(session)))).events == 1
    assert import_file(store, write(str(just_said(session, ago=timedelta(minutes=6))))).events == 1


def test_a_text_that_says_why_it_ended_or_is_followed_is_told_at_once(write: Any, store: Ledgers) -> None:
    session = Session()
    session.user("u1", "go")
    session.text("a1", "msg_1", "Bye.", stop="end_turn")
    assert import_file(store, write(str(just_said(session)))).events == 2
    session.text("a2", "msg_2", "One more thing.")
    just_said(session)
    session.user("u2", "Yes?")
    assert import_file(store, write(str(just_said(session)))).events == 2
