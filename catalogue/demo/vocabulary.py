"""The vocabulary of generated rows, read once from catalogue/demo/words/*.toml."""

import random
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from itertools import accumulate
from pathlib import Path
from typing import Any

from framework.data_files import read_toml

DIRECTORY = Path(__file__).parent / "words"
_SLOT = re.compile(r"\{([a-e])(2?)\}")


@dataclass(frozen=True)
class Cuisine:
    """What restaurants of a cuisine look like. The fields are explained in cuisines.toml."""

    slug: str
    weight: float
    prices: Sequence[int]
    style: str
    weeks: Sequence[str]
    kinds: Sequence[str]
    secondary: Sequence[str]
    dishes: Sequence[str]
    local_kinds: Mapping[str, Sequence[str]] = field(default_factory=dict)
    native_dishes: Mapping[str, Sequence[str]] = field(default_factory=dict)


@dataclass(frozen=True)
class Style:
    """How restaurants of a language or cuisine are named: patterns, and the words for their slots."""

    patterns: Sequence[str]
    words: Mapping[str, Sequence[tuple[str, str]]]

    def generate_name(self, rng: random.Random, *, kind: str, street: str, area: str) -> tuple[str, str | None]:
        """Return a name, and its native spelling where all words have one."""
        pattern = rng.choice(self.patterns)
        words: dict[str, str] = {}
        spellings: list[str] = []
        for slot, second in _SLOT.findall(pattern):
            first_word = words.get(slot)
            word, spelling = rng.choice(self.words[slot])
            while word == first_word:
                word, spelling = rng.choice(self.words[slot])
            words[slot + second] = word
            spellings.append(spelling)
        name = pattern.format(kind=kind, street=street, area=area, **words)
        return name, "".join(spellings) if spellings and all(spellings) else None


@dataclass(frozen=True)
class City:
    """What restaurants of a market look like. `languages` has an entry for each percent of the reviews."""

    share: float
    languages: Sequence[str]
    style: str
    phone_patterns: Sequence[str]
    address: str
    streets: Sequence[str]
    postcodes: Mapping[str, str]
    cuisines: Sequence[Cuisine]
    cuisine_weights: Sequence[float]
    region: str | None = None


@dataclass(frozen=True)
class Language:
    """Sentences of reviews by mood: 0 bad, 1 mixed, 2 good. `dish` has the parts before and after the dish."""

    code: str
    space: str
    opening: Sequence[Sequence[str]]
    dish: Sequence[Sequence[tuple[str, str]]]
    service: Sequence[Sequence[str]]
    closing: Sequence[Sequence[str]]
    reply: Sequence[Sequence[str]]
    authors: Sequence[str]


@cache
def cuisines() -> dict[str, Cuisine]:
    return {slug: Cuisine(slug=slug, **row) for slug, row in _read("cuisines").items()}


@cache
def cities() -> dict[str, City]:
    return {slug: _city(**row) for slug, row in _read("cities").items()}


@cache
def styles() -> dict[str, Style]:
    return {
        style: Style(
            patterns=row.pop("patterns"),
            words={slot: [_split_at(word, "|") for word in words] for slot, words in row.items()},
        )
        for style, row in _read("names").items()
    }


@cache
def languages() -> dict[str, Language]:
    people = _read("people")
    return {code: _language(code, row, people[code]) for code, row in _read("phrases").items()}


def _city(*, languages: Mapping[str, int], boost: Mapping[str, float], **columns: Any) -> City:
    return City(
        languages=[code for code, percent in languages.items() for _ in range(percent)],
        cuisines=list(cuisines().values()),
        cuisine_weights=list(accumulate(each.weight * boost.get(each.slug, 1) for each in cuisines().values())),
        **columns,
    )


def _language(code: str, row: dict[str, Any], people: dict[str, Any]) -> Language:
    opening, dish, service, closing = (
        [row[part][mood] for mood in ("bad", "mixed", "good")] for part in ("opening", "dish", "service", "closing")
    )
    initials = [f" {letter}." for letter in "ABCDEFGHJKLMNOPRSTVW"] if people["initials"] else [""]
    return Language(
        code=code,
        space=row["space"],
        opening=opening,
        dish=[[_split_at(sentence, "{dish}") for sentence in sentences] for sentences in dish],
        service=service,
        closing=closing,
        reply=[row["reply"][mood] for mood in ("bad", "bad", "good")],
        authors=[name + initial for name in people["names"] for initial in initials],
    )


def _split_at(text: str, separator: str) -> tuple[str, str]:
    before, _, after = text.partition(separator)
    return before, after


def _read(name: str) -> dict[str, dict[str, Any]]:
    return read_toml(DIRECTORY / f"{name}.toml")
