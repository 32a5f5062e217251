"""Token counts: exact, offline and bounded, whatever the text holds."""

from __future__ import annotations

import base64
import hashlib
import random
import subprocess
import sys
import time
from functools import cache
from pathlib import Path

import pytest
import tiktoken
import tiktoken_ext.openai_public as published
from hypothesis import given, settings
from hypothesis import strategies as st
from tiktoken.model import MODEL_PREFIX_TO_ENCODING, MODEL_TO_ENCODING

from projections.encodings import ENCODINGS, SAME_COUNTS, encoding_for
from projections.errors import UnknownEncoding
from projections.seams import first_seam, last_seam
from replay import tokens
from replay.tokens import BLOCK_CHARACTERS, counter

PUBLISHED_SUMS = {
    "o200k_base": "446a9538cb6c348e3516120d7c08b09f57c36495e2acfffe59a5bf8b0cfb1a2d",
    "cl100k_base": "223921b76ee99bde995b7ff738513eef100fb51d18c93597a113bcffe865b2a7",
}
MEGABYTE = 1_000_000
CPU_SECONDS_A_MEGABYTE = 1.5
"""Of this process, so that a busy machine does not matter. A calm one needs 0.7 for the worst text below."""


def sum_of_published_form(encoding: str) -> str:
    digest = hashlib.sha256()
    for rank, token in enumerate(tokens._ranked_tokens(encoding)):
        digest.update(base64.b64encode(token) + b" %d\n" % rank)
    return digest.hexdigest()


@cache
def reference(encoding: str) -> tiktoken.Encoding:
    """The tokenizer as tiktoken itself makes it, but with our ranks in place of a download."""

    def ranks(_url: str, expected_hash: str) -> dict[bytes, int]:
        assert expected_hash == PUBLISHED_SUMS[encoding]
        return {token: rank for rank, token in enumerate(tokens._ranked_tokens(encoding))}

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(published, "load_tiktoken_bpe", ranks)
        return tiktoken.Encoding(**published.ENCODING_CONSTRUCTORS[encoding]())


def exact(encoding: str, text: str) -> int:
    return len(reference(encoding).encode_ordinary(text))


def random_text(alphabet: str, length: int) -> str:
    return "".join(random.Random(7).choices(alphabet, k=length))


HOSTILE = {
    "one small letter": "a" * MEGABYTE,
    "one capital": "A" * MEGABYTE,
    "spaces": " " * MEGABYTE,
    "spaces before a word": " " * MEGABYTE + "x",
    "tabs": "\t" * MEGABYTE,
    "newlines": "\n" * MEGABYTE,
    "carriage returns": "\r" * MEGABYTE,
    "mixed white space": random_text(" \t\n\r\f\v\u00a0\u2003\u3000\x85\x1c", MEGABYTE),
    "indented empty lines": ("\n" + " " * 999) * (MEGABYTE // 1000),
    "base64": base64.b64encode(random.Random(7).randbytes(750_000)).decode(),
    "digits": "7" * MEGABYTE,
    "slashes": "/" * MEGABYTE,
    "apostrophes": "'" * MEGABYTE,
    "special tokens": "<|endoftext|>" * (MEGABYTE // 13),
    "NUL": "\0" * MEGABYTE,
    "lone surrogates": "\ud800" * MEGABYTE,
    "Chinese": "订" * MEGABYTE,
    "combining marks": "\u0301" * MEGABYTE,
    "emoji": "\U0001f600" * MEGABYTE,
    "any character": random_text("".join(map(chr, range(1, 0x3000))), MEGABYTE),
}


@pytest.mark.parametrize("encoding", ENCODINGS)
def test_carried_ranks_are_the_published_ones(encoding: str) -> None:
    assert sum_of_published_form(encoding) == PUBLISHED_SUMS[encoding]


@pytest.mark.parametrize("encoding", ENCODINGS)
def test_pattern_and_special_tokens_are_the_published_ones(encoding: str) -> None:
    theirs = reference(encoding)
    assert tokens.PATTERNS[encoding] == theirs._pat_str
    assert tokens.SPECIAL_TOKENS[encoding] == theirs._special_tokens


def test_encoding_mapped_to_another_has_the_same_ordinary_tokens(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(published, "load_tiktoken_bpe", lambda _url, expected_hash: expected_hash)
    for name, same in SAME_COUNTS.items():
        theirs = published.ENCODING_CONSTRUCTORS[name]()
        assert (theirs["pat_str"], theirs["mergeable_ranks"]) == (tokens.PATTERNS[same], PUBLISHED_SUMS[same])


@pytest.mark.parametrize("encoding", ENCODINGS)
def test_special_token_text_counts_as_ordinary_text(encoding: str) -> None:
    text = "Our tokenizer docs say to end each file with <|endoftext|> — is that right?"
    assert counter(encoding)(text) == exact(encoding, text)
    assert counter(encoding)("<|endoftext|>") == 7
    assert all(counter(encoding)(special) > 1 for special in tokens.SPECIAL_TOKENS[encoding])


@pytest.mark.parametrize(
    ("text", "o200k", "cl100k"),
    [
        ("", 0, 0),
        ("hello world", 2, 2),
        ("\0", 1, 1),
        ("\ud800", 1, 1),
        ("a\udfffb", 3, 3),
        ("订单已经发货" * 20, 80, 100),
        ("注文した商品がまだ届いていません。", 10, 16),
    ],
)
def test_known_counts(text: str, o200k: int, cl100k: int) -> None:
    assert (counter("o200k_base")(text), counter("cl100k_base")(text)) == (o200k, cl100k)


@pytest.mark.parametrize("encoding", ENCODINGS)
@pytest.mark.parametrize("kind", HOSTILE)
def test_a_megabyte_of_anything_is_counted_in_bounded_time(encoding: str, kind: str) -> None:
    count = counter(encoding)
    count("load the ranks first")
    started = time.process_time()
    total = count(HOSTILE[kind])
    assert time.process_time() - started < CPU_SECONDS_A_MEGABYTE
    assert total > MEGABYTE / 129  # no token holds more than 128 bytes


@pytest.mark.parametrize("encoding", ENCODINGS)
@pytest.mark.parametrize("kind", sorted(kind for kind in HOSTILE if not kind.startswith(("spaces", "tabs"))))
def test_cutting_a_run_moves_the_count_by_two_tokens_a_cut_at_most(encoding: str, kind: str) -> None:
    # Runs of spaces and tabs of this length cannot be counted whole: they are the reason for the cuts.
    text = HOSTILE[kind][:300_000]
    cuts = len(text) // BLOCK_CHARACTERS
    assert abs(counter(encoding)(text) - exact(encoding, text)) <= 2 * cuts


@pytest.mark.parametrize("encoding", ENCODINGS)
@pytest.mark.parametrize("kind", ["one small letter", "one capital", "newlines", "digits", "slashes", "Chinese"])
def test_one_repeated_character_is_counted_exactly(encoding: str, kind: str) -> None:
    text = HOSTILE[kind][:300_000]
    assert counter(encoding)(text) == exact(encoding, text)


@pytest.mark.parametrize("encoding", ENCODINGS)
def test_long_ordinary_text_is_counted_exactly(encoding: str) -> None:
    words = [
        "refund",
        "Order-88213,",
        "4,180",
        "it's",
        "\n",
        "\n\n  -",
        "(charged/twice)",
        "\t",
        "订单。",
        "x" * 300,
    ]
    text = " ".join(random.Random(7).choices(words, k=200_000))
    assert len(text) > 8 * BLOCK_CHARACTERS
    assert counter(encoding)(text) == exact(encoding, text)


HARD_TO_JOIN = st.text(alphabet=" \n\r\t\x1c\x85\u2003/'\".-_{aAsSd1é订\u0301\0\ud800", max_size=40)


@pytest.mark.parametrize("encoding", ENCODINGS)
@settings(deadline=None, max_examples=500)
@given(text=HARD_TO_JOIN)
def test_no_token_crosses_a_seam(encoding: str, text: str) -> None:
    # Text of another seam at every character, so that each position is tried as the last in reach.
    encode = reference(encoding).encode_ordinary
    for end in range(len(text)):
        seam = last_seam(text, 0, end + 1)
        assert encode(text[:seam]) + encode(text[seam:]) == encode(text)
        seam = first_seam(text, end, len(text))
        assert encode(text[:seam]) + encode(text[seam:]) == encode(text)


@settings(deadline=None, max_examples=200)
@given(text=st.text(max_size=60), block=st.integers(1, 12))
def test_blocks_are_the_text_and_none_is_too_long(text: str, block: int) -> None:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(tokens, "BLOCK_CHARACTERS", block)
        blocks = list(tokens._blocks(text))
    assert "".join(blocks) == text
    assert all(len(piece) <= block for piece in blocks)


@settings(deadline=None, max_examples=300)
@given(text=st.text(alphabet=st.characters(), max_size=200))
def test_any_text_is_counted_as_tiktoken_counts_it(text: str) -> None:
    for encoding in ENCODINGS:
        assert counter(encoding)(text) == exact(encoding, text)


def test_counting_the_same_text_again_is_nearly_free() -> None:
    count = counter("o200k_base")
    text = random_text("abcdefghij 0123456789\n", MEGABYTE)
    started = time.process_time()
    first = count(text)
    between = time.process_time()
    assert count(text) == first
    assert time.process_time() - between < (between - started) / 5


def test_memo_is_bounded_and_holds_no_text() -> None:
    count = tokens._Counter("cl100k_base")
    for number in range(tokens.MEMO_COUNTS + 100):
        count(f"text {number}")
    assert len(count._memo) == tokens.MEMO_COUNTS
    assert {len(key) for key in count._memo} == {hashlib.sha256().digest_size}


@pytest.mark.parametrize(
    ("name", "encoding"),
    [
        ("o200k_base", "o200k_base"),
        ("cl100k_base", "cl100k_base"),
        ("gpt-5", "o200k_base"),
        ("gpt-5.2-preview", "o200k_base"),
        ("o1", "o200k_base"),
        ("o3-mini", "o200k_base"),
        ("o4-mini", "o200k_base"),
        ("gpt-4.1-mini", "o200k_base"),
        ("gpt-4o-mini-2031-01-01", "o200k_base"),
        ("ft:gpt-4o:acme::1", "o200k_base"),
        ("gpt-oss-120b", "o200k_base"),
        ("gpt-4", "cl100k_base"),
        ("gpt-3.5-turbo-0125", "cl100k_base"),
        ("text-embedding-3-small", "cl100k_base"),
    ],
)
def test_encoding_of_a_name(name: str, encoding: str) -> None:
    assert encoding_for(name) == encoding


PUBLISHED = {f"{begins}x": encoding for begins, encoding in MODEL_PREFIX_TO_ENCODING.items()} | MODEL_TO_ENCODING


@pytest.mark.parametrize(("name", "encoding"), PUBLISHED.items())
def test_every_model_that_tiktoken_knows_is_known_with_its_encoding(name: str, encoding: str) -> None:
    if encoding == "o200k_harmony" or encoding in ENCODINGS:
        assert encoding_for(name) == encoding.replace("harmony", "base")
    else:
        with pytest.raises(UnknownEncoding, match="no token encoding" if name == encoding else f"it uses {encoding}"):
            encoding_for(name)


@pytest.mark.parametrize(
    ("name", "near"),
    [
        ("o9-preview", "o3"),
        ("GPT-4o", "gpt-4o"),
        ("openai/gpt-4.1", "gpt-4.1"),
        ("o200k", "o200k_base"),
        ("claude-opus-5", "cl100k_base"),
        ("text-davinci-003", "davinci-002"),
        ("", "o200k_base"),
    ],
)
def test_unknown_name_shows_the_nearest_and_the_way_out(name: str, near: str) -> None:
    with pytest.raises(UnknownEncoding) as caught:
        encoding_for(name)
    assert caught.value.name == name
    assert near in caught.value.nearest
    assert near in str(caught.value)
    assert all(encoding in str(caught.value) for encoding in ENCODINGS)


def test_model_whose_encoding_is_not_carried_says_which_it_is() -> None:
    with pytest.raises(UnknownEncoding, match="p50k_base, which is not carried here"):
        encoding_for("text-davinci-003")


@pytest.mark.parametrize("name", ["gpt-5", "o200k_harmony", "p50k_base", ""])
def test_counter_takes_encodings_only(name: str) -> None:
    with pytest.raises(UnknownEncoding):
        counter(name)


OFFLINE = """
import sys, threading

opened = []

def watch(event, arguments):
    if event.startswith(("socket.", "urllib.", "http.")):
        raise SystemExit(f"{event} {arguments}: counting must not touch the network")
    if event == "open" and str(arguments[0]).endswith(".bin.xz"):
        opened.append(arguments[0])

sys.addaudithook(watch)

from projections.encodings import encoding_for
from replay.tokens import counter

count = counter("o200k_base")
assert not {"tiktoken", "requests"} & set(sys.modules), "the import of replay.tokens must be cheap"
assert not opened, "the ranks are loaded by the first count, not before"

totals = []
threads = [threading.Thread(target=lambda: totals.append(count("hello world"))) for _ in range(8)]
for thread in threads:
    thread.start()
for thread in threads:
    thread.join()
assert totals == [2] * 8, totals
assert len(opened) == 1, opened
assert counter(encoding_for("gpt-4"))("<|endoftext|>") == 7
print("counted offline")
"""


def test_counting_needs_no_network_and_loads_once_for_all_threads(tmp_path: Path) -> None:
    run = subprocess.run(
        [sys.executable, "-c", OFFLINE],
        env={"PYTHONPATH": ":".join(sys.path), "HOME": str(tmp_path), "TIKTOKEN_CACHE_DIR": str(tmp_path)},
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    assert (run.returncode, run.stdout) == (0, "counted offline\n"), run.stderr
