"""What counts as a wish to have something forgotten, and what only sounds like one."""

from __future__ import annotations

import json
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from ledger.forget_words import LANGUAGES
from ledger.wishes import LOOKED_AT_CHARACTERS, wish_in

WISHES = {
    "en": [
        "forget my address",
        "Please forget my address.",
        "please delete my data",
        "Don't store my card number",
        "do not remember my card number",
        "Please don't keep my card number on file.",
        "erase everything you know about me",
        "remove my phone number from your records",
        "Can you delete everything I told you?",
        "Forget what I said about my health.",
        "I'd like you to forget my date of birth.",
        "I want my data deleted",
        "I want you to delete my personal data",
        "Please delete this conversation.",
        "Could you erase our chat history?",
        "forget that number",
        "Please remove Anna's and my email address from your memory",
        "Clear your memory of this chat please",
        "My new number is 555-0199. Please do not save that number.",
        "Wrong address, forget that address please",
        "You should not store my passport number.",
        "Stop storing my location.",
        "I request the erasure of my personal data under GDPR.",
        "My data must be deleted.",
        "Forget me.",
        "Delete me from your records",
        "Never record our conversation",
        "I don't want you to remember my name",
        "I would prefer that you not keep my email.",
        "Please forget that I live in Leeds",
        "Please get rid of my medical history",
        "Also, wipe all of my details from your system.",
        "forget the password I gave you",
        "Delete the phone number that I sent you earlier",
        "My card number was a mistake – please erase it and forget my card number",
        "I don't want my messages stored",
        "I have the right to be forgotten",
        "Strike that from your notes",
    ],
    "de": [
        "Vergiss meine Adresse",
        "Bitte lösche meine Daten.",
        "Bitte löschen Sie meine Telefonnummer aus Ihren Unterlagen.",
        "Können Sie bitte meine Kontonummer löschen?",
        "Kannst du vergessen, was ich dir gesagt habe?",
        "Vergiss alles, was du über mich weißt.",
        "Merk dir meine Nummer nicht.",
        "Speichern Sie meine Kartennummer bitte nicht.",
        "Meine Daten dürfen nicht gespeichert werden.",
        "Ich möchte, dass du meinen Namen vergisst.",
        "Lösche diese Unterhaltung",
        "Bitte meine Adresse nicht speichern",
    ],
    "fr": [
        "Oublie mon adresse",
        "Veuillez supprimer mes données personnelles.",
        "Pouvez-vous effacer mon numéro de téléphone ?",
        "Ne gardez pas mon numéro de carte.",
        "Ne mémorise pas mon adresse",
        "Oubliez tout ce que vous savez sur moi.",
        "Efface ce que je t'ai dit.",
        "Je voudrais que vous supprimiez mes données",
        "Supprimez mon nom de vos fichiers",
        "S'il vous plaît, oubliez cette conversation",
    ],
    "es": [
        "Olvida mi dirección",
        "Por favor, borra mis datos.",
        "¿Puede eliminar mi número de teléfono?",
        "No guardes mi número de tarjeta",
        "Olvida todo lo que sabes de mí",
        "Quiero que borres mis datos personales",
        "Olvide lo que le dije.",
        "Elimine mi correo de sus registros",
        "Olvida esta conversación",
    ],
    "zh": [
        "请忘记我的地址",
        "请删除我的个人信息",
        "不要记住我的电话号码",
        "别保存我的银行卡号",
        "忘掉我刚才说的话",
        "请把我的手机号删掉",
        "请从你的记忆中删除我的名字",
        "请删除这次对话",
        "忘记关于我的一切",
    ],
}

NO_WISHES = [
    "don't forget to pack",
    "Don't forget my birthday!",
    "I forgot my password",
    "never forget",
    "forget about it",
    "Forget it.",
    "forget it, let's move on",
    "I can't remember my card number",
    "I don't remember my password",
    "delete the file foo.py",
    "remove the import",
    "Remove my changes from the branch",
    "delete my branch",
    "Please remove my name from the reservation.",
    "Delete the email column from the users table",
    "remove my_data.csv",
    "I always forget my password",
    "How do I delete my account data?",
    "Why did you delete my data?",
    "Did you forget my address?",
    "Don't delete my data",
    "Please never forget what I told you",
    "Forget the train, I'll fly.",
    "Can you remove the second passenger from my booking?",
    "delete my data folder",
    "Remove that number from the array",
    "Please keep my address",
    "Save my address for next time",
    "I want to remember my password",
    "Store my card number please",
    "I don't keep my card number with me",
    "Let me know before you delete my data",
    "Let's forget about the hotel",
    "Cancel my reservation please",
    "Remove my checked bag",
    "You forgot my name",
    "Clear the cache and the logs",
    "Drop my database table",
    "delete all comments in this file",
    "Remember my name is Yusuf",
    "I lost my card, and I do not remember my account number",
    "Do I have to keep my receipt?",
    "Forget I asked",
    "Forget I said anything",
    "Erase the board",
    "Delete my function and write it again",
    "I need to drop my class",
    "I do not want to lose my data",
    "They deleted my data last year.",
    "Will my data be deleted?",
    "If I forget my key, what happens?",
    "Vergiss nicht, die Rechnung zu schicken.",
    "Vergiss es.",
    "Ich habe mein Passwort vergessen.",
    "Vergiss meine Adresse nicht!",
    "Bitte vergiss nicht meinen Geburtstag.",
    "Lösche die Datei test.py",
    "Merk dir meine Nummer",
    "Ich habe meine Kartennummer vergessen",
    "Entferne den Import",
    "Speichere meine Adresse",
    "Bitte nicht vergessen, meine Daten zu prüfen",
    "Ich kann meine Daten nicht löschen",
    "Wie kann ich meine Daten löschen?",
    "Oublie ça",
    "N'oublie pas mon adresse.",
    "J'ai oublié mon mot de passe.",
    "Supprime le fichier main.py",
    "Laisse tomber",
    "Je ne retiens pas mon numéro",
    "N'oubliez pas mon anniversaire",
    "Comment supprimer mes données ?",
    "Garde mon numéro",
    "Olvídalo",
    "No olvides mi cumpleaños",
    "Olvidé mi contraseña",
    "Se me olvidó mi contraseña",
    "Borra el archivo",
    "Elimina la función",
    "No recuerdo mi contraseña",
    "Guarda mi número",
    "¿Cómo borro mis datos?",
    "别忘记我的生日",
    "我忘记了我的密码",
    "我忘了我的密码",
    "删除这个文件",
    "不要忘记我的地址",
    "算了吧",
    "请记住我的地址",
    "我不记得我的密码",
    "不要删除我的数据",
    "如何删除我的数据",
]


@pytest.mark.parametrize(("language", "text"), [(language, text) for language, texts in WISHES.items() for text in texts])
def test_a_wish_is_heard(language: str, text: str) -> None:
    found = wish_in(text)
    assert found is not None
    assert found.language == language


@pytest.mark.parametrize("text", NO_WISHES)
def test_what_only_sounds_like_a_wish_is_none(text: str) -> None:
    assert wish_in(text) is None


def test_every_language_is_tried() -> None:
    assert set(WISHES) == {language.name for language in LANGUAGES}


@pytest.mark.parametrize(
    ("text", "rule"),
    [
        ("Forget my address.", "mine"),
        ("Forget what I told you.", "said"),
        ("Delete this conversation.", "conversation"),
        ("Strike that from your records.", "memory"),
        ("Do not store my card number.", "not kept"),
    ],
)
def test_the_rule_says_what_is_meant(text: str, rule: str) -> None:
    found = wish_in(text)
    assert found is not None
    assert found.rule == rule


@pytest.mark.parametrize(
    "text", ["Here it is.\n{}\nThanks!", "{} Then book the ferry.", "\u201cOk\u201d \u2013 {}", "SORRY! {}"]
)
def test_a_wish_may_stand_among_other_sentences(text: str) -> None:
    assert wish_in(text.format("Please don\u2019t keep my\u00a0phone  number.")) is not None


def test_letters_are_the_same_however_they_are_composed() -> None:
    assert wish_in("Supprimez mes donne\u0301es") is not None
    assert wish_in("PLEASE DELETE MY DATA") is not None


def test_a_long_text_is_looked_at_where_people_write() -> None:
    log = "2031-03-04 INFO kept 14 records, removed 3, stored my_data.csv\n" * 20_000
    started = time.process_time()
    assert wish_in(log) is None
    assert time.process_time() - started < 2
    assert wish_in(f"Please forget my address.\n{log}") is not None
    assert wish_in(f"{log}\nPlease forget my address.") is not None
    assert len(log) > 4 * LOOKED_AT_CHARACTERS


@pytest.mark.parametrize(
    "piece", ["forget my ", "do not ", "please delete all of ", "\u5fd8\u8bb0\u6211", "a, ", "vergiss meine "]
)
def test_no_text_takes_long(piece: str) -> None:
    started = time.process_time()
    wish_in(piece * 100_000)
    assert time.process_time() - started < 2


def test_nobody_in_the_transcripts_asks_and_no_rule_says_so(real_data: Path) -> None:
    """Read by hand: what comes nearest in them is "I don't remember my user ID" and "remove Ethan from this reservation"."""
    texts = [text for path in sorted(real_data.rglob("*.json*")) if path.is_file() for text in said_in(path)]
    assert len(texts) > 1_000
    assert [text for text in texts if wish_in(text) is not None] == []


def said_in(path: Path) -> Iterator[str]:
    """What users say in a transcript, as far as the file is one."""
    content = path.read_text("utf-8", "replace")
    try:
        yield from _said(json.loads(content))
    except (ValueError, RecursionError):
        for line in content.splitlines():
            try:
                yield from _said(json.loads(line))
            except (ValueError, RecursionError):
                return


def _said(value: Any) -> Iterator[str]:
    if isinstance(value, list):
        for item in value:
            yield from _said(item)
    if not isinstance(value, dict):
        return
    if "speaker" in value or any(value.get(name) in ("user", "human") for name in ("role", "from")):
        said = [value.get(name) for name in ("content", "value", "text")]
        blocks = [block.get("text") for part in said if isinstance(part, list) for block in part if isinstance(block, dict)]
        yield from (text for text in [*said, *blocks] if isinstance(text, str))
    for item in value.values():
        yield from _said(item)
