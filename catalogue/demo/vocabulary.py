"""The vocabulary of generated rows, read once from catalogue/demo/words/*.toml."""

import random
import re
import tomllib
from dataclasses import dataclass
from functools import cache
from itertools import accumulate
from pathlib import Path
from typing import Any

DIRECTORY = Path(__file__).parent / "words"
_SLOT = re.compile(r"\{([a-e])(2?)\}")


@dataclass(frozen=True)
class Cuisine:
    """What restaurants of a cuisine look like. The fields are explained in cuisines.toml."""

    slug: str
    weight: float
    prices: tuple[int, ...]
    style: str
    weeks: tuple[str, ...]
    kinds: tuple[str, ...]
    local_kinds: dict[str, tuple[str, ...]]
    secondary: tuple[str, ...]
    dishes: tuple[str, ...]
    native_dishes: dict[str, tuple[str, ...]]


@dataclass(frozen=True)
class Style:
    """How restaurants of a language or cuisine are named: patterns, and the words for their slots."""

    patterns: tuple[str, ...]
    words: dict[str, tuple[tuple[str, str], ...]]

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

    slug: str
    share: float
    languages: tuple[str, ...]
    style: str
    phone_patterns: tuple[str, ...]
    address: str
    region: str | None
    streets: tuple[str, ...]
    postcodes: dict[str, str]
    cuisines: tuple[Cuisine, ...]
    cuisine_weights: tuple[float, ...]


@dataclass(frozen=True)
class Language:
    """Sentences of reviews by mood: 0 bad, 1 mixed, 2 good. `dish` has the parts before and after the dish."""

    code: str
    space: str
    opening: tuple[tuple[str, ...], ...]
    dish: tuple[tuple[tuple[str, str], ...], ...]
    service: tuple[tuple[str, ...], ...]
    closing: tuple[tuple[str, ...], ...]
    reply: tuple[tuple[str, ...], ...]
    authors: tuple[str, ...]


@cache
def cuisines() -> dict[str, Cuisine]:
    return {
        slug: Cuisine(
            slug=slug,
            weight=row["weight"],
            prices=tuple(row["prices"]),
            style=row["style"],
            weeks=tuple(row["weeks"]),
            kinds=tuple(row["kinds"]),
            local_kinds={style: tuple(kinds) for style, kinds in row.get("local_kinds", {}).items()},
            secondary=tuple(row["with"]),
            dishes=tuple(row["dishes"]),
            native_dishes={language: tuple(dishes) for language, dishes in row.get("native", {}).items()},
        )
        for slug, row in _read("cuisines").items()
    }


@cache
def cities() -> dict[str, City]:
    return {slug: _city(slug, row) for slug, row in _read("cities").items()}


@cache
def styles() -> dict[str, Style]:
    return {
        style: Style(
            patterns=tuple(row.pop("patterns")),
            words={slot: tuple(_split_spelling(word) for word in words) for slot, words in row.items()},
        )
        for style, row in _read("names").items()
    }


@cache
def languages() -> dict[str, Language]:
    people = _read("people")
    return {code: _language(code, row, people[code]) for code, row in _read("phrases").items()}


def _city(slug: str, row: dict[str, Any]) -> City:
    weights = (cuisine.weight * row["boost"].get(cuisine.slug, 1) for cuisine in cuisines().values())
    return City(
        slug=slug,
        share=row["share"],
        languages=tuple(code for code, percent in row["languages"].items() for _ in range(percent)),
        style=row["style"],
        phone_patterns=tuple(row["phones"]),
        address=row["address"],
        region=row.get("region"),
        streets=tuple(row["streets"]),
        postcodes=row["postcodes"],
        cuisines=tuple(cuisines().values()),
        cuisine_weights=tuple(accumulate(weights)),
    )


def _language(code: str, row: dict[str, Any], people: dict[str, Any]) -> Language:
    def by_mood(part: str) -> tuple[tuple[str, ...], ...]:
        return tuple(tuple(row[part][mood]) for mood in ("bad", "mixed", "good"))

    initials = [f" {letter}." for letter in "ABCDEFGHJKLMNOPRSTVW"] if people["initials"] else [""]
    return Language(
        code=code,
        space=row["space"],
        opening=by_mood("opening"),
        dish=tuple(tuple(_split_at_dish(sentence) for sentence in sentences) for sentences in by_mood("dish")),
        service=by_mood("service"),
        closing=by_mood("closing"),
        reply=tuple(tuple(row["reply"][mood]) for mood in ("bad", "bad", "good")),
        authors=tuple(name + initial for name in people["names"] for initial in initials),
    )


def _split_at_dish(sentence: str) -> tuple[str, str]:
    before, _, after = sentence.partition("{dish}")
    return before, after


def _split_spelling(word: str) -> tuple[str, str]:
    name, _, native = word.partition("|")
    return name, native


def _read(name: str) -> dict[str, dict[str, Any]]:
    with (DIRECTORY / f"{name}.toml").open("rb") as file:
        return tomllib.load(file)
