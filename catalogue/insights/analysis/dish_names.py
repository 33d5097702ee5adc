"""Extraction of dish names: runs of food words, known ones and those that the reviews of a restaurant teach."""

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache, lru_cache
from pathlib import Path
from typing import Any, NamedTuple

from anyascii import anyascii
from rapidfuzz import process
from rapidfuzz.distance import OSA

from framework.data_files import read_toml

LEXICON_DIR = Path(__file__).parents[1] / "lexicon"
# Letters of the Latin script, in which the lexicon is written. A change of script is a word boundary too, because
# Japanese and Chinese are written without spaces. Numbers of two digits are parts of names: "chicken 65".
LATIN = "A-Za-z\u00c0-\u00d6\u00d8-\u00f6\u00f8-\u024f\u1e00-\u1eff"
WORD = re.compile(rf"[{LATIN}]+(?:['\u2019-][{LATIN}]+)*|(?<![\d.,:/])\d\d(?![\d%]|[.,:/]\d)|[^\W\d_{LATIN}]+")
IS_LATIN = re.compile(rf"[{LATIN}]")
# Longer runs of food words are no names.
MAX_NAME_WORDS = 6
# A word is a misspelling of a known one of so many letters if this many edits lead to it.
MIN_FOLDED_LENGTH, MAX_EDITS = 6, 1
# In other languages than English everyday words are as similar as misspellings: "canale" is no canelé.
MIN_FOREIGN_FOLDED_LENGTH = 8
# A name is written in lower case if so many times as many guests as capitalize it do.
MIN_LOWER_SHARE = 0.25


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
    """The kind of each food word, synonyms, and fixed names by their first word.

    Kinds: "dish" stands alone, "food" needs another word, "kind" is such a word, "description" is one that does not
    end a name, "link" stands between two words.
    """

    kinds: dict[str, str]
    forms: Mapping[str, str]
    fixed: Mapping[str, tuple[tuple[str, ...], ...]]

    def normalize(self, word: str, *, min_folded: int = MIN_FOLDED_LENGTH) -> str:
        """The canonical form of a word; a misspelling of so many letters is corrected."""
        normalized = normalize_word(word)
        return self.forms.get(normalized) or self._correct_spelling(normalized, min_folded)

    def _correct_spelling(self, word: str, min_folded: int) -> str:
        known = self.kinds.get(word) or len(word) < min_folded or is_common_word(word)
        return word if known else correct_spelling(word)


def add_menu(vocabulary: FoodVocabulary, menu: Iterable[str]) -> tuple[FoodVocabulary, frozenset[str]]:
    """The vocabulary with the dishes of a menu that it does not have, and their keys.

    Dishes of everyday words ("House Special") are left out: guests use them for other things.
    """
    kinds: dict[str, str] = {}
    fixed = dict(vocabulary.fixed)
    for name in menu:
        words = tuple(vocabulary.normalize(word) for word in WORD.findall(name.partition("(")[0]))
        if all(vocabulary.kinds.get(word) or is_common_word(word) for word in words) or len(words) > MAX_NAME_WORDS:
            continue
        if len(words) == 1:
            kinds[words[0]] = "dish"
        else:
            names = {words, *fixed.get(words[0], ())}
            fixed[words[0]] = tuple(sorted(names, key=lambda each: (-len(each), each)))
            kinds[" ".join(words)] = "dish"
    return FoodVocabulary(vocabulary.kinds | kinds, vocabulary.forms, fixed), frozenset(kinds)


def read_lexicon(name: str) -> dict[str, Any]:
    """Read lexicon/NAME.toml."""
    return read_toml(LEXICON_DIR / f"{name}.toml")


@cache
def load_vocabulary() -> FoodVocabulary:
    """Load lexicon/foods.toml, once."""
    content = read_lexicon("foods")
    kinds: dict[str, str] = {}
    for kind in ("link", "kind", "description", "food", "dish"):
        words = content["dishes" if kind == "dish" else f"{kind}s"]
        kinds |= dict.fromkeys(map(singularize, words.split()), kind)
    # Synonyms of several words are names.
    kinds |= {form: "dish" for form in content["forms"].values() if " " in form}
    fixed: dict[str, tuple[tuple[str, ...], ...]] = {}
    for name in sorted(content["fixed"], key=len, reverse=True):
        parts = tuple(content["forms"].get(word, word) for word in map(singularize, name.split()))
        fixed[parts[0]] = (*fixed.get(parts[0], ()), parts)
    return FoodVocabulary(kinds, content["forms"], fixed)


@cache
def _common_words() -> tuple[frozenset[str], tuple[str, ...]]:
    content = read_lexicon("common_words")
    return frozenset(map(singularize, content["words"].split())), tuple(content["endings"].split())


def common_words() -> frozenset[str]:
    """The everyday words of English, without those that only have an ending of such."""
    return _common_words()[0]


@lru_cache(maxsize=20_000)
def is_common_word(word: str) -> bool:
    """Whether a normalized word is one of everyday English, so that guests do not name a dish by it."""
    words, endings = _common_words()
    # What `singularize` makes of "varieties" and "dishes".
    forms = (word, f"{word[:-2]}y", word[:-1]) if word.endswith("ie") else (word, word.removesuffix("e"))
    return len(word) < 3 or not words.isdisjoint(forms) or word.endswith(endings)


@lru_cache(maxsize=20_000)
def correct_spelling(word: str) -> str:
    """The known dish word that this one misspells by a letter, or the word. 50 µs."""
    found = process.extractOne(word, _long_dish_words(), scorer=OSA.distance, score_cutoff=MAX_EDITS)
    return found[0] if found and found[0][0] == word[0] else word


@cache
def _long_dish_words() -> list[str]:
    kinds = load_vocabulary().kinds
    return [word for word, kind in kinds.items() if kind in ("dish", "food") and len(word) >= MIN_FOLDED_LENGTH]


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
    """The key of a dish name: equal for plurals, accents, capitals, synonyms and most misspellings."""
    vocabulary = load_vocabulary()
    return " ".join(vocabulary.normalize(word) for word in name.split())


def find_dishes(text: str) -> Iterator[DishMention]:
    """Find the longest dish names from left to right; those in Chinese and Japanese characters come last."""
    for run in find_runs(text, tokenize(text, load_vocabulary())):
        kinds = Counter(token.kind for token in run)
        if len(run) <= MAX_NAME_WORDS and (kinds["dish"] or (kinds["food"] and len(run) > 1)):
            yield DishMention(" ".join(token.text for token in run), run[0].start, run[-1].end)
    yield from find_cjk_dishes(text)


def find_cjk_dishes(text: str) -> Iterator[DishMention]:
    """Find dish names in Chinese and Japanese characters."""
    if not text.isascii():
        pattern, names = load_cjk_names()
        for match in pattern.finditer(text):
            name = names[match[0]]
            yield DishMention(normalize_name(name), match.start(), match.end(), name)


def find_runs(text: str, tokens: Iterable[Token]) -> Iterator[list[Token]]:
    """Find the runs of food words, without links at their ends."""
    run: list[Token] = []
    for token in tokens:
        is_interrupted = run and text[run[-1].end : token.start].strip()
        if is_interrupted or not token.kind:
            yield from _without_links(run)
            run = []
        if token.kind:
            run.append(token)
    yield from _without_links(run)


def find_parts(run: Sequence[Token]) -> Iterator[Sequence[Token]]:
    """Each part of a run that is a dish name: it has a dish, or a food and another word."""
    for start in range(len(run)):
        for end in range(start + 1, min(len(run), start + MAX_NAME_WORDS) + 1):
            part = run[start:end]
            kinds = {token.kind for token in part}
            is_repetitive = len({token.text for token in part}) < len(part)
            is_whole = not is_repetitive and part[0].kind != "link" and part[-1].kind not in ("link", "description")
            if is_whole and ("dish" in kinds or ("food" in kinds and len(part) > 1)):
                yield part


def tokenize(text: str, vocabulary: FoodVocabulary, *, min_folded: int = MIN_FOLDED_LENGTH) -> Iterator[Token]:
    """The words of a text; a fixed name is one token. See FoodVocabulary.normalize."""
    words = [
        (vocabulary.normalize(match[0], min_folded=min_folded), match.start(), match.end())
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


def _without_links(run: list[Token]) -> Iterator[list[Token]]:
    while run and run[0].kind == "link":
        run = run[1:]
    while run and run[-1].kind == "link":
        run = run[:-1]
    if run:
        yield run


def is_known_dish(key: str) -> bool:
    """Whether the lexicon has the dish itself, also with its kind: guests cannot put it together of other foods."""
    kinds = {token.kind for token in tokenize(key, load_vocabulary())}
    return ("dish" in kinds and "food" not in kinds) or key in load_cjk_keys()


def choose_spelling(spellings: Counter[str]) -> str:
    """The most frequent spelling of a name, not a synonym of it; lower case wins a tie."""
    vocabulary = load_vocabulary()
    canonical = {
        name: count
        for name, count in spellings.items()
        if all(vocabulary.normalize(word) == normalize_word(word) for word in name.split())
    }
    candidates = Counter(canonical or spellings)
    for name in candidates:
        # Guests capitalize dishes as they like; some names are always written so.
        if name != name.lower() and candidates[name.lower()] >= MIN_LOWER_SHARE * candidates[name]:
            candidates[name.lower()] += candidates[name]
    name = min(candidates, key=lambda name: (-candidates[name], name != name.lower(), name))
    name = " ".join(name.split())
    return name.lower() if name.isupper() and len(name) > 3 else name
