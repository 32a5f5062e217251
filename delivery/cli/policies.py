"""Policies at the command line: named, read from files, changed by single options, and shown."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any, Final

import typer

from delivery.cli.arguments import AsJson
from delivery.cli.printing import one_line, print_json, print_text
from delivery.cli.rule_modules import RuleModules, register_rules
from ledger.errors import InvalidInput, nearest
from projections.policy import Policy
from projections.policy_text import policy_from, policy_from_toml
from projections.policy_toml import policy_to_toml
from projections.presets import PRESETS
from projections.verdicts.registered import registered_rule
from projections.verdicts.rules import FunctionRule
from projections.wire import to_json

_PRESETS: Final = ", ".join(PRESETS)
_MOST_BYTES: Final = 1_000_000

PolicyOption = Annotated[
    str | None, typer.Option("--policy", metavar="FILE|PRESET", help=f"A TOML file, or one of {_PRESETS}.")
]
TailTurns = Annotated[
    int | None, typer.Option("--tail", metavar="K", min=0, help="Turns kept verbatim before the current one.")
]
BudgetTokens = Annotated[int | None, typer.Option("--budget", metavar="N", min=1, help="Tokens that the request may cost.")]
ReserveTokens = Annotated[
    int | None, typer.Option("--reserve", metavar="N", min=0, help="Tokens of it that stay free for the answer.")
]
Encoding = Annotated[
    str | None, typer.Option("--encoding", metavar="NAME", help="Encoding or model by which tokens are counted.")
]
Model = Annotated[str | None, typer.Option("--model", metavar="NAME", help="Model whose recorded usage says how it counts.")]


def policy(
    name: Annotated[
        str, typer.Argument(metavar="FILE|PRESET", show_default=False, help=f"A TOML file, or one of {_PRESETS}.")
    ] = "default",
    rules: RuleModules = None,
    as_json: AsJson = False,
) -> None:
    """Show a policy as TOML, with the meaning of every key.

    Kept in a file and changed, it is a policy for window --policy. A file that is none is refused with the key that is wrong,
    with --rules also one that names a function that is not registered.
    """
    found = policy_option(name)
    if rules:
        register_rules(rules)
        for rule in found.rules:
            if isinstance(rule, FunctionRule):
                registered_rule(rule.name, rule.version)
    if as_json:
        print_json(to_json({"digest": found.digest, "policy": found.model_dump(mode="json")}))
        return
    print_text(f"# {one_line(name)}, digest {found.digest}")
    print_text(policy_to_toml(found).rstrip("\n"))


def policy_option(text: str, option: str = "--policy") -> Policy:
    """The policy of a preset's name or of a TOML file; a preset wins over a file of its name.

    ``InvalidInput`` names the nearest preset, or the file and the key in it.
    """
    if text in PRESETS:
        return PRESETS[text]
    path = Path(text)
    if not path.is_file():
        near = nearest(text, PRESETS)
        hint = f" (did you mean {near[0]!r}?)" if near else ""
        raise InvalidInput(f"{option} {text!r} is no preset{hint} and no file: take one of {_PRESETS}", path=_path(option))
    if path.stat().st_size > _MOST_BYTES:
        raise InvalidInput(f"{path} is larger than any policy: name a TOML file", path=_path(option))
    return _read(path)


def changed(policy: Policy, **options: Any) -> Policy:
    """A policy with the single options that were given in the place of its own; ``InvalidInput`` where it cannot be met."""
    given = {key: value for key, value in options.items() if value is not None}
    return policy_from(policy.model_dump(mode="json") | given) if given else policy


def _path(option: str) -> str:
    return option.removeprefix("--")


def _read(path: Path) -> Policy:
    try:
        return policy_from_toml(path.read_text(encoding="utf-8"))
    except (UnicodeDecodeError, RecursionError):
        raise InvalidInput(f"{path} is no policy: name a TOML file in UTF-8", path=str(path)) from None
    except InvalidInput as error:
        mistakes = tuple(f"{path}: {mistake}" for mistake in error.details.get("mistakes", (error,)))
        raise InvalidInput("\n".join(mistakes), **error.details | {"mistakes": mistakes}) from None
