"""What counts as a secret, in texts and in JSON, and what does not."""

from __future__ import annotations

import json
import re
import time
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ledger.errors import InvalidInput
from ledger.json_text import JsonText
from ledger.redaction import Redactor, SecretRule
from tests.redaction.secrets import DATABASE, DUMP, LIVE_KEY, NEEDLES, PASSWORD, PEM

KEY = b"a store's secret"
REDACTOR = Redactor()
MARK = re.compile(r"\[redacted ([a-z-]+) [0-9a-f]{12}\]")


def rules(text: str) -> list[str]:
    """The rules that found something in a text."""
    return MARK.findall(REDACTOR.text(text, KEY))


@pytest.mark.parametrize(
    ("text", "rule"),
    [
        (LIVE_KEY, "api-key"),
        ("key: sk-proj-abcDEF123_456-789xyz.", "api-key"),
        ("sk-ant-api03-AbCdEf0123456789", "api-key"),
        ("sk-aB3dE6fG9hJ2kL5mN8pQ1rS4tU7v", "api-key"),
        (PEM, "private-key"),
        (PEM.replace("\n", "\\n"), "private-key"),
        (PEM.partition("-----END")[0], "private-key"),
        (PEM.replace("RSA ", "").replace("\n", "\r\n"), "private-key"),
        (DATABASE, "url-password"),
        ("postgres://u:p@h/db", "url-password"),
        ("redis://:s3cret@cache:6379/0", "url-password"),
        ("HTTPS://ada:lovelace@example.com", "url-password"),
        ("AKIAIOSFODNN7EXAMPLE", "aws-key"),
        ("ghp_" + "a1B2" * 9, "github-token"),
        ("glpat-abcdefghij0123456789", "gitlab-token"),
        ("xoxb-123456789012-abcdef", "slack-token"),
        ("AIza" + "Sy0-_" * 7, "google-key"),
        ("eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxMjM0In0.dozjgNryP4J3jVmNHl0w", "json-web-token"),
        ("Authorization: Bearer abcdef0123456789abcdef", "bearer-token"),
        (f'password = "{PASSWORD}"', "password"),
        (f"DB_PASSWORD={PASSWORD}", "password"),
        (f"'api_key' => '{PASSWORD}'", "password"),
        (f'{{"token": "{PASSWORD}"}}', "password"),
    ],
)
def test_secrets_that_their_form_gives_away(text: str, rule: str) -> None:
    assert rules(text) == [rule]
    assert rules(f"before {text}\nafter") == [rule]


@pytest.mark.parametrize(
    "text",
    [
        "The password: you will get it by post.",
        "password: string, token: number",
        "password = os.environ['DB_PASSWORD_2']",
        "token == abcdefg12",
        'secret: "${VAULT_SECRET_1}"',
        "tokens: 12345678",
        "my secret is that I like tea",
        "https://example.com:8080/users@2x.png",
        "https://example.com/a:b/c@d",
        "see sk-learn-contrib-projects and risk-live-assessment",
        "task-live-12345678 in the mask-test-environment",
        "The header -----BEGIN PRIVATE KEY----- begins a key.",
        "-----BEGIN CERTIFICATE-----\nMIIDdzCCAl+gAwIBAgIEAgAAuTANBgkqhkiG\n-----END CERTIFICATE-----",
        "git@github.com:ada/engine.git",
        "the bearer responsibilityofallthings",
        "sha256 9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08",
        "4c1f0c0e-8f5c-4f5b-9a53-0a4f6f1d2b77",
    ],
)
def test_what_only_looks_like_one(text: str) -> None:
    assert REDACTOR.text(text, KEY) == text


def test_a_dump_of_a_configuration() -> None:
    text = REDACTOR.text(DUMP, KEY)
    assert not [needle for needle in NEEDLES if needle in text]
    assert MARK.sub("*", text) == (
        "STRIPE_KEY=*\nDATABASE_URL=postgres://app:*@db.internal:5432/orders\nTLS_KEY=*\nLOG_LEVEL=info\n"
    )


def test_a_mark_tells_the_same_secret_again_in_this_store_alone() -> None:
    first, other = REDACTOR.text(LIVE_KEY, KEY), REDACTOR.text(LIVE_KEY + "x", KEY)
    assert REDACTOR.text(f"again {LIVE_KEY}", KEY) == f"again {first}"
    assert len({first, other, REDACTOR.text(LIVE_KEY, b"another store's")}) == 3


@pytest.mark.parametrize("text", [DUMP, PEM, f"password={PASSWORD}", "bearer " + "a1" * 20, f"token={LIVE_KEY}", DATABASE])
def test_a_mark_is_left_as_it_is(text: str) -> None:
    once = REDACTOR.text(text, KEY)
    assert REDACTOR.text(once, KEY) == once != text


@pytest.mark.parametrize(
    "source",
    [
        json.dumps({"env": DUMP}),
        json.dumps({"password": PASSWORD}),
        json.dumps([{"db": {"api_key": PASSWORD, "n": 4050.10}}, [LIVE_KEY]]),
        json.dumps({LIVE_KEY: 1}),
        '{"url": "postgres:\\/\\/app:pr0ductionPa55@db"}',
        '{"key": "\\u0073k-live-4eC39HqLyjWDarjtT1zdp7dc"}',
        json.dumps({"password": PASSWORD + '"'}),
        json.dumps(json.dumps({"password": PASSWORD, "pem": PEM})),
    ],
)
def test_json_stays_json(source: str) -> None:
    found = REDACTOR.json(JsonText.parse(source), KEY)
    assert MARK.search(found) is not None
    assert not [needle for needle in NEEDLES if needle in found or needle in str(json.loads(found))]
    assert shape(json.loads(found)) == shape(json.loads(source))


def shape(tree: Any) -> Any:
    """A JSON value without its strings."""
    if isinstance(tree, dict):
        return [shape(value) for value in tree.values()]
    return [shape(item) for item in tree] if isinstance(tree, list) else (None if isinstance(tree, str) else tree)


@pytest.mark.parametrize(
    "source", ['{"token": 12345678, "a": 4.10}', '{"b":1,  "a":"x\\/y"}', '[1e5,"\\u00e9"]', '"password: a1"']
)
def test_json_without_secrets_is_the_same_text(source: str) -> None:
    given = JsonText.parse(source)
    assert REDACTOR.json(given, KEY) is given


PIECES = st.sampled_from(
    [*NEEDLES[:3], DATABASE, PEM, "password", "token", ":", "=", '"', "\\", "\n", "{", "a1b2c3d4", "sk-live-"]
)
TREES = st.recursive(st.lists(PIECES).map(" ".join), lambda tree: st.dictionaries(PIECES, tree, max_size=3) | st.lists(tree))


@settings(max_examples=60, deadline=None)
@given(TREES)
def test_any_json_stays_json(tree: Any) -> None:
    found = REDACTOR.json(JsonText.of(tree), KEY)
    assert type(json.loads(found)) is type(tree)
    assert not [needle for needle in (LIVE_KEY, "pr0ductionPa55@") if needle in str(json.loads(found))]
    assert REDACTOR.json(found, KEY) is found


HOSTILE = {
    "letters": "a" * 200_000,
    "schemes": "a://" * 50_000,
    "users": "http://a:" * 20_000,
    "keys": "-----BEGIN PRIVATE KEY-----" * 8_000,
    "keys with lines": ("-----BEGIN PRIVATE KEY-----\n" + "A" * 64) * 2_000,
    "passwords": "password=" * 20_000,
    "spaces": "token" + " " * 200_000,
    "quotes": "token" + "'" * 200_000,
    "web tokens": "eyJaaaaaaaa-" * 16_000,
    "bearers": "bearer a" * 25_000,
}


@pytest.mark.parametrize("name", HOSTILE)
def test_no_text_takes_for_ever(name: str) -> None:
    began = time.perf_counter()
    REDACTOR.text(HOSTILE[name], KEY)
    assert time.perf_counter() - began < 5


def test_own_rules_take_the_place_of_the_standard_ones() -> None:
    own = Redactor([SecretRule(name="badge", pattern=r"badge (?P<secret>\d+)")])
    assert MARK.sub("*", own.text(f"badge 4711, {LIVE_KEY}", KEY)) == f"badge *, {LIVE_KEY}"
    with pytest.raises(InvalidInput, match="'badge'"):
        Redactor([SecretRule(name="badge", pattern="(")])


def test_hardly_anything_in_real_transcripts_is_taken_for_a_secret(real_data: Path) -> None:
    found = []
    for path in sorted(real_data.rglob("*")):
        if path.suffix in {".json", ".jsonl", ".md", ".txt"} and path.is_file():
            text = path.read_bytes().decode("utf-8", "replace")
            found += MARK.findall(REDACTOR.text(text, KEY))
    assert {name: found.count(name) for name in set(found)} == {"password": 15}  # all of them are passwords and keys
