"""Prompts: instructions that a user chooses, by which a model uses the tools well."""

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import orjson
from rest_framework import serializers

from catalogue.filters.param_types import SLUG, Words
from catalogue.mcp import completion
from framework.api.query_params.declarations import IntegerParam, ListParam, QueryParams
from framework.data_files import read_toml
from framework.mcp.resources import Completer, Prompt, PromptArgument

MIN_COMPARED, MAX_COMPARED = 2, 5

DECLARATIONS: Mapping[str, Any] = read_toml(Path(__file__).with_suffix(".toml"))


class Dinner(QueryParams):
    """The arguments of plan_dinner."""

    near = Words(max_length=120)
    party = IntegerParam(required=False, min_value=1, max_value=500)
    budget = Words(required=False, max_length=80)


class Comparison(QueryParams):
    """The arguments of compare."""

    slugs = ListParam(of=f" ?{SLUG} ?", max_length=700, hint="This must be slugs of restaurants: noma,geranium.")

    def validate_slugs(self, slugs: tuple[str, ...]) -> tuple[str, ...]:
        """Between MIN_COMPARED and MAX_COMPARED different slugs."""
        unique = tuple(dict.fromkeys(slug.strip() for slug in slugs))
        if not MIN_COMPARED <= len(unique) <= MAX_COMPARED:
            raise serializers.ValidationError(
                f"Give {MIN_COMPARED} to {MAX_COMPARED} different slugs with commas between them."
            )
        return unique


def _validate(form_class: type[QueryParams], arguments: Mapping[str, str]) -> dict[str, Any]:
    """Validate the arguments; empty ones are left out. Raises ValidationError."""
    form = form_class(data={name: value for name, value in arguments.items() if value.strip()})
    form.is_valid(raise_exception=True)
    return dict(form.validated_data)


def plan_dinner(arguments: Mapping[str, str]) -> str:
    """The steps to find and book a table."""
    values = _validate(Dinner, arguments)
    party = " for `party` people" if "party" in values else "; ask how many they are before you look for a table"
    budget = (
        "`price_max` from 1 (cheap) to 4 (dear) as it fits `budget`: say which you took for it,"
        if "budget" in values
        else "no `price_max` unless the person names a budget,"
    )
    return _render("plan_dinner", values, party=party, budget=budget)


def compare(arguments: Mapping[str, str]) -> str:
    """The steps to compare restaurants."""
    return _render("compare", _validate(Comparison, arguments))


def _render(name: str, values: Mapping[str, Any], **words: str) -> str:
    """The text of a prompt. What the user typed is one line of JSON, so that it cannot end the data."""
    shared = DECLARATIONS["shared"]
    typed = f"{shared['values']}\n{orjson.dumps(values).decode()}"
    text: str = DECLARATIONS[name]["text"].format(values=typed, rules=shared["rules"], **words)
    return text


def _declare(name: str, render: Callable[[Mapping[str, str]], str], **completers: Completer) -> Prompt:
    """The prompt of this name, with the completers of its arguments."""
    entry = DECLARATIONS[name]
    arguments = [
        PromptArgument(name=argument, complete=completers.get(argument), **words)
        for argument, words in entry["arguments"].items()
    ]
    return Prompt(
        name=name, title=entry["title"], description=entry["description"], arguments=arguments, render=render
    )


PROMPTS: Sequence[Prompt] = (
    _declare("plan_dinner", plan_dinner, near=completion.complete_near),
    _declare("compare", compare, slugs=completion.complete_slugs),
)
