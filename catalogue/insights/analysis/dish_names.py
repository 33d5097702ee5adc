"""Extraction of dish names: runs of known food words. Unknown words never become part of a name."""

import re
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

from anyascii import anyascii

from framework.data_files import read_toml

LEXICON_DIR = Path(__file__).parents[1] / "lexicon"
# Letters of the Latin script, in which the lexicon is written. A change of script is a word boundary too, because
# Japanese and Chinese are written without spaces.
LATIN = "A-Za-z\u00c0-\u00d6\u00d8-\u00f6\u00f8-\u024f\u1e00-\u1eff"
WORD = re.compile(rf"[{LATIN}]+(?:['\u2019-][{LATIN}]+)*|[^\W\d_{LATIN}]+")
IS_LATIN = re.compile(rf"[{LATIN}]")
# Longer runs of food words are no names.
MAX_NAME_WORDS = 6


class DishMention(NamedTuple):
    """A dish name in a text: its normalized key and its offsets.

    `name` is the English name if the text writes it in Chinese or Japanese characters, else empty.
    """

    key: str
    start: int
    end: int
    name: str = ""


class Token(NamedTuple):
    """A normalized word or fixed name, with its offsets. `kind` is None for a word that is not about food."""

    text: str
    start: int
    end: int
    kind: str | None


@dataclass(frozen=True, slots=True)
class FoodVocabulary:
    """The kind of each food word ("dish", "food", "kind", "link"), synonyms, and fixed names by their first word."""

    kinds: dict[str, str]
    forms: dict[str, str]
    fixed: dict[str, tuple[tuple[str, ...], ...]]


def read_lexicon(name: str) -> dict[str, Any]:
    """Read lexicon/NAME.toml."""
    return read_toml(LEXICON_DIR / f"{name}.toml")


@cache
def load_vocabulary() -> FoodVocabulary:
    """Load lexicon/foods.toml, once."""
    content = read_lexicon("foods")
    kinds: dict[str, str] = {}
    for kind, words in (("link", "links"), ("kind", "kinds"), ("food", "foods"), ("dish", "dishes")):
        kinds |= dict.fromkeys(map(singularize, content[words].split()), kind)
    fixed: dict[str, tuple[tuple[str, ...], ...]] = {}
    for name in sorted(content["fixed"], key=len, reverse=True):
        parts = tuple(map(singularize, name.split()))
        fixed[parts[0]] = (*fixed.get(parts[0], ()), parts)
    return FoodVocabulary(kinds, content["forms"], fixed)


def normalize_word(word: str) -> str:
    """The word in lower case without accents and plural s."""
    word = word.lower()
    if not word.isascii() and IS_LATIN.match(word):
        word = anyascii(word).lower()
    return singularize(word)


def singularize(word: str) -> str:
    """The word without the s of a plural."""
    return word[:-1] if len(word) > 3 and word[-1] == "s" and word[-2] not in "s'" else word


@cache
def load_cjk_names() -> tuple[re.Pattern[str], dict[str, str]]:
    """Load lexicon/cjk_dishes.toml: a pattern that prefers the longest name, and the English name of each."""
    names = {written: name for table in read_lexicon("cjk_dishes").values() for written, name in table.items()}
    return re.compile("|".join(sorted(map(re.escape, names), key=len, reverse=True))), names


@cache
def load_cjk_keys() -> frozenset[str]:
    """The keys of the names that are written in Chinese or Japanese characters, once."""
    return frozenset(map(normalize_name, load_cjk_names()[1].values()))


def normalize_name(name: str) -> str:
    """The key of a dish name: equal for plurals, accents, capitals and synonyms."""
    forms = load_vocabulary().forms
    return " ".join(forms.get(normalized := normalize_word(word), normalized) for word in name.split())


def find_dishes(text: str) -> Iterator[DishMention]:
    """Find dish names from left to right; those in Chinese and Japanese characters come last."""
    run: list[Token] = []
    for token in _tokenize(text):
        is_interrupted = run and text[run[-1].end : token.start].strip()
        if is_interrupted or not token.kind:
            yield from _dish_of_run(run)
            run = []
        if token.kind:
            run.append(token)
    yield from _dish_of_run(run)
    if not text.isascii():
        pattern, names = load_cjk_names()
        for match in pattern.finditer(text):
            name = names[match[0]]
            yield DishMention(normalize_name(name), match.start(), match.end(), name)


def _tokenize(text: str) -> Iterator[Token]:
    vocabulary = load_vocabulary()
    words = [
        (vocabulary.forms.get(normalized := normalize_word(match[0]), normalized), match.start(), match.end())
        for match in WORD.finditer(text)
    ]
    index = 0
    while index < len(words):
        word, start, end = words[index]
        for name in vocabulary.fixed.get(word, ()):
            if tuple(other for other, *_ in words[index : index + len(name)]) == name:
                end = words[index + len(name) - 1][2]
                yield Token(" ".join(name), start, end, "dish")
                index += len(name)
                break
        else:
            yield Token(word, start, end, vocabulary.kinds.get(word))
            index += 1


def _dish_of_run(run: list[Token]) -> Iterator[DishMention]:
    """The dish of a run of food words without links at its ends: it needs a dish, or a food and another word."""
    while run and run[0].kind == "link":
        run = run[1:]
    while run and run[-1].kind == "link":
        run = run[:-1]
    kinds = Counter(token.kind for token in run)
    if len(run) <= MAX_NAME_WORDS and (kinds["dish"] or (kinds["food"] and len(run) > 1)):
        yield DishMention(" ".join(token.text for token in run), run[0].start, run[-1].end)


def is_known_dish(key: str) -> bool:
    """Whether the lexicon has the dish itself, also with its kind: guests cannot put it together of other foods."""
    kinds = {token.kind for token in _tokenize(key)}
    return ("dish" in kinds and "food" not in kinds) or key in load_cjk_keys()


def choose_spelling(spellings: Counter[str]) -> str:
    """The most frequent spelling of a name, not a synonym of it; lower case wins a tie."""
    forms = load_vocabulary().forms
    canonical = {
        name: count
        for name, count in spellings.items()
        if not any(normalize_word(word) in forms for word in name.split())
    }
    candidates = canonical or spellings
    name = min(candidates, key=lambda name: (-candidates[name], name != name.lower(), name))
    name = " ".join(name.split())
    return name.lower() if name.isupper() and len(name) > 3 else name
