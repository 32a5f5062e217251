"""The command that builds a window: for programs, for people, recorded, and against another policy."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

import ledger
from delivery.cli.application import run
from projections.policy import Policy
from replay import view
from tests.delivery.cli.conftest import Command, at

ROWS = {"turn", "verdict", "rule", "tokens", "before"}


def test_window_has_tokens_receipt_and_request(command: Command, refund: str) -> None:
    """The request goes to the provider as it is; the receipt has a row for every turn."""
    answer = command("window", refund, "--tail", "2", "--budget", "900", "--render", "anthropic", "--json").answer
    assert answer["tokens"] <= 900
    assert answer["encoding"] == "o200k_base"
    assert [row["turn"] for row in answer["receipt"]["turns"]] == list(range(1, 15))
    assert set(answer["receipt"]["turns"][0]) == ROWS
    assert sum(answer["receipt"]["blocks"].values()) == answer["tokens"]
    assert answer["request"]["system"][0]["text"].startswith("You are the support agent")
    assert answer["request"]["messages"][0]["role"] == "user"
    assert answer["basis"]["policy"] == Policy(tail_turns=2, budget_tokens=900).digest


def test_window_over_budget_is_the_callers_to_mend(command: Command, refund: str) -> None:
    """The pins and their sizes in one line, exit code 2."""
    outcome = command("window", refund, "--budget", "50", "--json")
    assert (outcome.code, outcome.out) == (2, "")
    assert outcome.err.count("\n") == 1
    for pin in ("system", "task", "current", "state"):
        assert pin in outcome.err


@pytest.mark.parametrize("form", ["openai", "anthropic", "text"])
def test_people_see_the_window_that_is_sent(command: Command, refund: str, form: str) -> None:
    """The same turns at the same price as the request that programs get, in each form; every turn with --turns."""
    arguments = ("window", refund, "--tail", "4", "--budget", "560", "--render", form)
    shown, answer = command(*arguments, "--turns").out, command(*arguments, "--json").answer
    assert shown.endswith(f"\nbudget: 560 tokens\n{answer['tokens']:,} tokens (o200k_base)\n")
    assert _receipt(shown) == [
        (row["turn"], row["verdict"], row["tokens"], row["before"]) for row in answer["receipt"]["turns"]
    ]
    for row in answer["receipt"]["turns"]:
        assert (f"## Turn {row['turn']}," in shown) is (row["verdict"] in ("keep", "stub"))


def _receipt(shown: str) -> list[tuple[int, str, int, int]]:
    """The rows of the receipt: the turn, its verdict, and both of its prices."""
    table = shown.partition("turn   verdict")[2].partition("\n\n")[0].splitlines()[2:]
    return [(int(row[0]), row[1], int(row[-2]), int(row[-1])) for row in (line.split() for line in table)]


def test_people_see_what_the_rows_do_not_say(command: Command, voyage: str) -> None:
    """Blocks, what is compacted by verdict, what is left of the tail, and what gave way."""
    arguments = ("window", voyage, "--budget", "500", "--tail", "12")
    shown, answer = command(*arguments).out, command(*arguments, "--json").answer
    receipt = answer["receipt"]
    for block, tokens in receipt["blocks"].items():
        assert (f"\n{block} " in shown) is (tokens > 0)
    compacted = receipt["compacted"]["compress"]
    left = receipt["blocks"]["kept"] + receipt["blocks"]["middle"]
    assert f"\nturns 1-{receipt['through']} are compacted to {left} tokens: " in shown
    assert f"{compacted['turns']:,} compress ({compacted['before']:,} tokens)" in shown
    assert f"\ntail: {receipt['effective_tail']} of 12 turns\n" in shown
    turns = [int(step.removeprefix("turn ")) for step in receipt["gave_way"] if step.startswith("turn ")]
    assert turns == list(range(turns[0], turns[-1] + 1))
    (line,) = [line for line in shown.splitlines() if line.startswith("gave way to the budget: ")]
    assert line.endswith(f"turns {turns[0]}-{turns[-1]}")


def test_turns_that_gave_way_for_one_reason_are_one_word(command: Command, voyage: str, tmp_path: Path) -> None:
    file = tmp_path / "mine.toml"
    file.write_text("tail_turns = 12\ntail_tokens = 100\n", encoding="utf-8")
    shown = command("window", voyage, "--policy", str(file)).out
    (line,) = [line for line in shown.splitlines() if line.startswith("gave way to the budget: ")]
    assert line.endswith(": tail_tokens")
    assert line.count("turn") == 1


@pytest.mark.parametrize(
    ("written", "at", "said"),
    [
        ("tail_turns = 12", "turn:79", "tail: 12 of 12 turns"),
        ("tail_turns = 12", "turn:5", "tail: 4 of 4 turns"),
        ("tail_turns = 1000000\ncompaction = false", "turn:5", "tail: 4 of 4 turns"),
        ("tail_turns = 1\ntail_exchanges = 3", "turn:78", "tail: 5 turns"),
        ("tail_turns = 0", "turn:1", "tail: 0 of 0 turns"),
    ],
)
@pytest.mark.usefixtures("voyage")
def test_a_tail_is_no_longer_than_what_was_said(command: Command, tmp_path: Path, written: str, at: str, said: str) -> None:
    """Turns that there are not are not missing, and whole exchanges may make the tail longer than its turns."""
    file = tmp_path / "mine.toml"
    file.write_text(written, encoding="utf-8")
    assert f"\n{said}\n" in command("window", "voyage", "--policy", str(file), "--at", at).out


def test_turns_without_a_row_of_their_own_are_shown_when_asked_for(command: Command, voyage: str) -> None:
    """The receipt has rows for pins, tail and stubs; those that are compacted are counted, until somebody asks for each."""
    short, every = command("window", voyage, "--budget", "900").out, command("window", voyage, "--budget", "900", "--turns").out
    assert len(_receipt(short)) < len(_receipt(every))
    assert [row[0] for row in _receipt(every)] == list(range(1, 80))
    assert set(_receipt(short)) <= set(_receipt(every))


def test_a_preset_a_file_and_single_options_choose_the_policy(command: Command, voyage: str, tmp_path: Path) -> None:
    """An option wins over a file, a file over the preset that it begins with."""
    file = tmp_path / "mine.toml"
    file.write_text('preset = "coding"\ntail_turns = 3\nbudget_tokens = 1_500\n', encoding="utf-8")
    command("init")
    named = command("window", voyage, "--policy", "research", "--json").answer["basis"]["policy"]
    assert named == command("policy", "research", "--json").answer["digest"]
    filed = command("window", voyage, "--policy", str(file), "--json").answer
    assert filed["basis"]["policy"] == command("policy", str(file), "--json").answer["digest"]
    assert filed["tokens"] <= 1_500
    mine = command("policy", str(file), "--json").answer["policy"] | {"budget_tokens": 900, "reserve_tokens": 100}
    both = command("window", voyage, "--policy", str(file), "--budget", "900", "--reserve", "100", "--json").answer
    assert both["basis"]["policy"] == Policy.model_validate(mine).digest
    assert both["tokens"] <= 800


def test_tools_go_with_the_request_and_count(command: Command, refund: str, tmp_path: Path) -> None:
    """As they stand in the file: numbers keep their spelling."""
    file = tmp_path / "tools.json"
    file.write_text('[{"type": "function", "function": {"name": "weigh", "most": 1.50e2}}]\n', encoding="utf-8")
    without = command("window", refund, "--json").answer
    outcome = command("window", refund, "--tools", str(file), "--json")
    assert '"most": 1.50e2' in outcome.out
    assert outcome.answer["receipt"]["blocks"]["tools"] > 0
    assert outcome.answer["tokens"] == without["tokens"] + outcome.answer["receipt"]["blocks"]["tools"]


def test_a_recorded_window_comes_out_again(command: Command, voyage: str) -> None:
    """Its id is told, and verify builds it again, byte for byte."""
    shown = command("window", voyage, "--budget", "900", "--record").out
    first = shown.splitlines()[-1].removeprefix("recorded as ")
    second = command("window", voyage, "--policy", "support", "--render", "gemini", "--record", "--json").answer["recorded"]
    checked = command("verify", voyage, "--windows", "--json").answer
    assert [(found["id"], found["verdict"]) for found in checked["windows"]] == [(first, "same"), (second, "same")]
    assert command("verify", "--windows").out.endswith("2 served windows, 2 the same byte for byte\n")
    assert "windows" not in command("verify", "--json").answer


def test_the_json_of_a_recorded_window_is_that_of_the_window_and_its_id(command: Command, voyage: str) -> None:
    version = command("window", voyage, "--json").answer["basis"]["version"]
    recorded = command("window", voyage, "--record", "--json").answer
    assert recorded.pop("recorded").startswith("win_")
    assert recorded == command("window", voyage, "--at", str(version), "--json").answer


def test_verify_tells_which_windows_are_not_the_same_and_why(command: Command, voyage: str) -> None:
    """A forgetting since is no problem; it is said, for each."""
    command("window", voyage, "--record")
    assert command("forget", voyage, "--turns", "5", "--reason", "asked for").code == 0
    outcome = command("verify", voyage, "--windows")
    assert outcome.code == 0
    assert "(of version 79): forgotten: 1 forgetting since" in outcome.out
    assert outcome.out.endswith("1 served window, 0 the same byte for byte\n")


def test_verify_fails_where_a_served_window_has_other_bytes(command: Command, voyage: str, store_path: Path) -> None:
    """As a change of the code would do that nobody meant: exit code 1."""
    with ledger.connect(str(store_path)) as store:
        served = view(store, voyage).window().served()
        values = {name: getattr(served, name) for name in served.__slots__ if name not in ("ledger", "tools")}
        store.ledger(voyage).record_served(**values | {"bytes_digest": "5" * 64})
    outcome = command("verify", "--windows", "--json")
    assert (outcome.code, outcome.answer["ok"]) == (1, False)
    assert outcome.answer["windows"][0]["verdict"] == "different"
    assert command("verify").code == 0


def test_against_tells_what_another_policy_changes(command: Command, voyage: str) -> None:
    """Blocks, verdicts and lines, for people and for programs; each side is the window of its policy."""
    arguments = ("window", voyage, "--budget", "900", "--against", "sliding")
    shown, answer = command(*arguments).out, command(*arguments, "--json").answer
    before = command("window", voyage, "--budget", "900", "--json").answer
    after = command("window", voyage, "--budget", "900", "--policy", "sliding", "--json").answer
    assert answer["tokens"] == [before["tokens"], after["tokens"]]
    assert (answer["before"], answer["after"]) == (before["basis"], after["basis"])
    changed = [
        ours["turn"]
        for ours, theirs in zip(before["receipt"]["turns"], after["receipt"]["turns"], strict=True)
        if ours["verdict"] != theirs["verdict"]
    ]
    assert [change["turn"] for change in answer["turns"]] == changed
    assert f"{len(changed)} turns changed their verdict" in shown
    assert "\n-[turns 1-" in shown
    total = next(line.split() for line in shown.splitlines() if line.startswith("total "))
    assert [int(number.replace(",", "")) for number in total[1:3]] == answer["tokens"]


def test_against_the_same_policy_nothing_changes(command: Command, voyage: str) -> None:
    outcome = command("window", voyage, "--against", "default")
    assert outcome.out.endswith("0 turns changed their verdict, and the text is the same\n")


def test_a_window_of_an_earlier_version_is_compared_as_it_was(command: Command, refund: str) -> None:
    answer = command("window", refund, "--at", "turn:10", "--against", "sliding", "--json").answer
    assert answer["before"]["version"] == answer["after"]["version"] == 26
    assert not any('4,050 INR"' in line for line in answer["text"])


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("--policy", "codin"), "did you mean 'coding'?"),
        (("--policy", "nowhere/mine.toml"), "nowhere/mine.toml"),
        (("--policy", "."), "no file"),
        (("--policy", ""), "--policy '' is no preset"),
        (("--against", "slidin"), "--against 'slidin'"),
        (("--against", "sliding", "--record"), "--record and --against"),
        (("--against", "sliding", "--turns"), "--turns and --against: give one of them"),
        (("--against", "sliding", "--turns", "--json"), "--turns and --against: give one of them"),
        (("--reserve", "8000"), "reserve_tokens"),
        (("--render", "opnai"), "openai"),
        (("--tools", "nowhere.json"), "nowhere.json"),
        (("--tools", "TOOLS"), "no list of tools"),
        (("--tools", "TOOL"), "in one list"),
        (("--tools", "NAMES"), "in one list"),
        (("--tools", "BROKEN"), "broken.json"),
        (("--policy", "BROKEN"), "broken.json"),
        (("--policy", "RULES"), "'konstraint'"),
        (("--policy", "FUNCTION"), "import the module that registers it"),
        (("--policy", "KEY"), "did you mean tail_turns"),
        (("--policy", "NESTED"), "compaction.live_percent"),
        (("--policy", "LATIN"), "UTF-8"),
    ],
)
def test_a_mistake_is_one_line_that_says_the_way_out(
    command: Command, voyage: str, tmp_path: Path, arguments: tuple[str, ...], said: str
) -> None:
    """Misspelt presets and forms, files that are none, keys that there are not, rules that nobody registered."""
    files = {
        "TOOLS": ("tools.json", b'"weigh"'),
        "TOOL": ("tool.json", b'{"name": "weigh"}'),
        "NAMES": ("names.json", b'["weigh"]'),
        "BROKEN": ("broken.json", b'[{"name": "weigh"'),
        "RULES": ("rules.toml", b'rules = ["constraint", "konstraint"]'),
        "FUNCTION": ("function.toml", b'budget_tokens = 700\nrules = [{ type = "function", name = "tides", version = 2 }]'),
        "KEY": ("key.toml", b"tail_turn = 3"),
        "NESTED": ("nested.toml", b'[compaction]\nlive_percent = "much"'),
        "LATIN": ("latin.toml", "model = 'modèle'".encode("latin-1")),
    }
    for name, content in files.values():
        (tmp_path / name).write_bytes(content)
    given = [str(tmp_path / files[word][0]) if word in files else word for word in arguments]
    outcome = command("window", voyage, *given)
    assert (outcome.code, outcome.out, outcome.err.count("\n")) == (2, "", 1)
    assert outcome.err.startswith("context-ledger: ")
    assert said in outcome.err


def test_a_wrong_file_is_named_with_its_key(command: Command, voyage: str, tmp_path: Path) -> None:
    file = tmp_path / "mine.toml"
    file.write_text("[stubs]\nlarger_than_tokens = -1\n", encoding="utf-8")
    for asked in (("window", voyage, "--policy", str(file)), ("policy", str(file))):
        outcome = command(*asked)
        assert outcome.code == 2
        assert str(file) in outcome.err
        assert "stubs.larger_than_tokens" in outcome.err


def test_a_ledger_without_a_user_turn_has_no_window(command: Command, store_path: Path) -> None:
    command("init")
    with ledger.connect(str(store_path)) as store:
        store.ledger("quiet").record_turn("system", "Be brief.")
    outcome = command("window", "quiet")
    assert (outcome.code, outcome.out) == (2, "")
    assert "no user turn" in outcome.err


def test_windows_on_postgresql(database: str, capsys: pytest.CaptureFixture[str]) -> None:
    """Built, recorded and built again as on SQLite."""
    command = at(database, capsys)
    assert command("demo").code == 0
    outcome = command("window", "refund-ORD-88213", "--budget", "600", "--record", "--json")
    assert outcome.answer["recorded"] == "win_38"
    assert command("verify", "--windows").out.endswith("1 served window, 1 the same byte for byte\n")
    assert run(["--store", database, "window", "refund-ORD-88213", "--against", "sliding", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["tokens"]
