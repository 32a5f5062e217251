"""How the tokens of a model are counted: which encodings there are, and which models use them, as far as it is published."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from ledger.errors import nearest
from projections.errors import UnknownEncoding

ENCODINGS: Final[tuple[str, ...]] = ("o200k_base", "cl100k_base")
"""Names of the encodings whose ranks are carried, the newest first."""

SAME_COUNTS: Final = {"o200k_harmony": "o200k_base"}
"""Encodings that differ from one of these in special tokens only, which ordinary text never contains."""

# Both tables hold what tiktoken publishes; a test compares them.
_MODELS: Final[Mapping[str, str]] = {
    "o200k_base": "o1 o3 o4-mini gpt-5 gpt-4.1 gpt-4o",
    "cl100k_base": (
        "gpt-4 gpt-3.5-turbo gpt-3.5 gpt-35-turbo davinci-002 babbage-002"
        " text-embedding-ada-002 text-embedding-3-small text-embedding-3-large"
    ),
    "p50k_base": (
        "text-davinci-003 text-davinci-002 code-davinci-002 code-davinci-001 code-cushman-002 code-cushman-001"
        " davinci-codex cushman-codex"
    ),
    "p50k_edit": "text-davinci-edit-001 code-davinci-edit-001",
    "r50k_base": (
        "text-davinci-001 text-curie-001 text-babbage-001 text-ada-001 davinci curie babbage ada"
        " text-similarity-davinci-001 text-similarity-curie-001 text-similarity-babbage-001 text-similarity-ada-001"
        " text-search-davinci-doc-001 text-search-curie-doc-001 text-search-babbage-doc-001 text-search-ada-doc-001"
        " code-search-babbage-code-001 code-search-ada-code-001"
    ),
    "gpt2": "gpt2 gpt-2",
}

_BEGINNINGS: Final[Mapping[str, str]] = {
    "o200k_base": "o1- o3- o4-mini- gpt-5 gpt-4.5- gpt-4.1- chatgpt-4o- gpt-4o- ft:gpt-4o",
    "o200k_harmony": "gpt-oss-",
    "cl100k_base": "gpt-4- gpt-3.5-turbo- gpt-35-turbo- ft:gpt-4 ft:gpt-3.5-turbo ft:davinci-002 ft:babbage-002",
}
"""How the names of dated releases and of fine-tuned models begin; those that begin another stand before it."""

_OF_MODEL: Final = {model: encoding for encoding, models in _MODELS.items() for model in models.split()}
_OF_BEGINNING: Final = {begins: encoding for encoding, beginnings in _BEGINNINGS.items() for begins in beginnings.split()}


def encoding_for(name: str) -> str:
    """The encoding that ``name`` means: itself if it is one of ``ENCODINGS``, else that of the model.

    Dated releases and fine-tuned models are known by how they begin; nothing is guessed. Everything else raises
    ``UnknownEncoding``, also a model whose encoding is not carried here.
    """
    if name in ENCODINGS:
        return name
    begun = (encoding for begins, encoding in _OF_BEGINNING.items() if name.startswith(begins))
    found = _OF_MODEL.get(name) or next(begun, name)
    encoding = SAME_COUNTS.get(found, found)
    if encoding not in ENCODINGS:
        raise unknown_encoding(name, "" if encoding == name else f" (it uses {encoding}, which is not carried here)")
    return encoding


def unknown_encoding(name: str, because: str = "") -> UnknownEncoding:
    """What is said of a name that is no encoding and no model of one: the nearest ones, and the way out."""
    models = {
        model.rstrip("-")
        for model, encoding in {**_OF_BEGINNING, **_OF_MODEL}.items()
        if SAME_COUNTS.get(encoding, encoding) in ENCODINGS
    }
    known = (*ENCODINGS, *sorted(models))
    # The family alone ("o9" of "o9-preview") when the whole name resembles nothing.
    similar = nearest(name.lower(), known) or nearest(name.lower().partition("-")[0], known) or list(ENCODINGS)
    return UnknownEncoding(
        f"no token encoding is known for {name!r}{because}; nearest: {', '.join(similar)}. A model without a "
        f"public tokenizer, such as claude, has only estimates: choose {' or '.join(ENCODINGS)} by name",
        name=name,
        nearest=similar,
    )
