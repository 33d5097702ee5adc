"""Names of dishes in reviews: runs of words that we know for food. Other words never become part of a name."""

import re
import tomllib
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import NamedTuple

from anyascii import anyascii

WORDS = Path(__file__).parents[1] / "lexicon"
# Letters of the Latin script, in which our words are written. Where another begins so does another word: Japanese and
# Chinese put no space between the two.
LATIN = "A-Za-z\u00c0-\u00d6\u00d8-\u00f6\u00f8-\u024f\u1e00-\u1eff"
WORD = re.compile(rf"[{LATIN}]+(?:['\u2019-][{LATIN}]+)*|[^\W\d_{LATIN}]+")
WRITTEN_LATIN = re.compile(rf"[{LATIN}]")
# Who writes more food words in a row than this plays with us.
LONGEST_NAME = 6


class Spot(NamedTuple):
    """A name in a text: its key, which plurals and accents do not change, and where it stands.

    `name` is ours for it where the text writes it in another script, else empty.
    """

    key: str
    start: int
    end: int
    name: str = ""


class Word(NamedTuple):
    """A word or a fixed name of a text, folded, and where it stands."""

    folded: str
    start: int
    end: int
    kind: str | None


@dataclass(frozen=True, slots=True)
class Vocabulary:
    """The kind of each food word ("dish", "food", "kind", "link"), its other forms, and names by their first word."""

    kinds: dict[str, str]
    forms: dict[str, str]
    fixed: dict[str, tuple[tuple[str, ...], ...]]


@cache
def vocabulary() -> Vocabulary:
    """The words of words/foods.toml, read once."""
    with (WORDS / "foods.toml").open("rb") as file:
        read = tomllib.load(file)
    kinds: dict[str, str] = {}
    for kind, words in (("link", "links"), ("kind", "kinds"), ("food", "foods"), ("dish", "dishes")):
        kinds |= dict.fromkeys(map(singular, read[words].split()), kind)
    fixed: dict[str, tuple[tuple[str, ...], ...]] = {}
    for name in sorted(read["fixed"], key=len, reverse=True):
        parts = tuple(map(singular, name.split()))
        fixed[parts[0]] = (*fixed.get(parts[0], ()), parts)
    return Vocabulary(kinds, read["forms"], fixed)


def fold(word: str) -> str:
    """A word in small letters without accents, its apostrophe straight."""
    word = word.lower()
    if not word.isascii() and WRITTEN_LATIN.match(word):
        word = anyascii(word).lower()
    return singular(word)


def singular(word: str) -> str:
    """The word without the s of a plural; others keep it."""
    return word[:-1] if len(word) > 3 and word[-1] == "s" and word[-2] not in "s'" else word


@cache
def signs() -> tuple[re.Pattern[str], dict[str, str]]:
    """The names of lexicon/cjk_dishes.toml: what finds the longest of them, and our name for each."""
    with (WORDS / "cjk_dishes.toml").open("rb") as file:
        read = tomllib.load(file)
    names = {written: name for part in read.values() for written, name in part.items()}
    return re.compile("|".join(sorted(map(re.escape, names), key=len, reverse=True))), names


def key(name: str) -> str:
    """What names that differ in plurals, accents and capitals have in common."""
    forms = vocabulary().forms
    return " ".join(forms.get(folded := fold(word), folded) for word in name.split())


def find(text: str) -> Iterator[Spot]:
    """The names in a text, from left to right; those in signs of Chinese and Japanese come last."""
    yield from _in_letters(text)
    if not text.isascii():
        pattern, names = signs()
        for match in pattern.finditer(text):
            name = names[match[0]]
            yield Spot(key(name), match.start(), match.end(), name)


def _in_letters(text: str) -> Iterator[Spot]:
    run: list[Word] = []
    for word in _words(text):
        if run and text[run[-1].end : word.start].strip():
            yield from _name(run)
            run = []
        if word.kind:
            run.append(word)
        elif run:
            yield from _name(run)
            run = []
    yield from _name(run)


def _words(text: str) -> Iterator[Word]:
    known = vocabulary()
    found = [
        (known.forms.get(folded := fold(match[0]), folded), match.start(), match.end())
        for match in WORD.finditer(text)
    ]
    place = 0
    while place < len(found):
        folded, start, end = found[place]
        for name in known.fixed.get(folded, ()):
            if tuple(word for word, *_ in found[place : place + len(name)]) == name:
                end = found[place + len(name) - 1][2]
                yield Word(" ".join(name), start, end, "dish")
                place += len(name)
                break
        else:
            yield Word(folded, start, end, known.kinds.get(folded))
            place += 1


def _name(run: list[Word]) -> Iterator[Spot]:
    """The name that a run is, without the links at its ends; a dish, or a food with another word beside it."""
    while run and run[0].kind == "link":
        run = run[1:]
    while run and run[-1].kind == "link":
        run = run[:-1]
    kinds = Counter(word.kind for word in run)
    if len(run) <= LONGEST_NAME and (kinds["dish"] or (kinds["food"] and len(run) > 1)):
        yield Spot(" ".join(word.folded for word in run), run[0].start, run[-1].end)


def shown(spellings: Counter[str]) -> str:
    """The commonest spelling of a name, but no other form of it; of equal ones that in small letters."""
    forms = vocabulary().forms
    plain = {name: count for name, count in spellings.items() if not any(fold(word) in forms for word in name.split())}
    spellings = Counter(plain) or spellings
    name, _ = min(spellings.items(), key=lambda found: (-found[1], found[0] != found[0].lower(), found[0]))
    name = " ".join(name.split())
    return name.lower() if name.isupper() and len(name) > 3 else name
