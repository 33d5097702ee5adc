"""Nouns of English reviews that are neither food nor everyday words: what a place has and the lexicon has not."""

import re
from collections.abc import Iterator, Sequence
from functools import cache, lru_cache

from catalogue.insights.analysis import sentiment
from catalogue.insights.analysis.aspect_lexicon import ENGLISH, load_features, load_lexicon
from catalogue.insights.analysis.dish_names import Token, is_common_word, read_lexicon

# A noun stands after one of these words, or begins a sentence, and before one of the others, a verb, or punctuation.
# Without "to", "by" and "with", after which people are named.
# fmt: off
BEFORE = frozenset([
    "a", "an", "the", "their", "its", "this", "that", "these", "those", "of", "in", "on", "at", "free", "live", "own",
    "has", "had", "have",
])
# fmt: on
# fmt: off
AFTER = frozenset([
    "and", "or", "but", "is", "was", "are", "were", "has", "have", "had", "in", "on", "at", "of", "for", "to",
    "with", "by", "from", "that", "which", "who", "where", "when", "while", "as", "so", "too", "here", "there",
    "out", "upstairs", "downstairs", "outside", "inside", "all", "every", "each", "after", "before", "during",
    "make", "makes", "works",
])
# fmt: on
MIN_LETTERS, MIN_LETTERS_IN_PAIR = 4, 3


def find_phrases(sentence: str, tokens: Sequence[Token]) -> Iterator[tuple[str, str]]:
    """Each noun, and each pair of a word and a noun, with its spelling. Within a sentence capitals mean names."""
    for index, token in enumerate(tokens):
        if not _may_be_noun(token) or not _ends_phrase(sentence, tokens, index):
            continue
        written = sentence[token.start : token.end]
        # The first word has a capital.
        if not (written[1:] if index == 0 else written).islower():
            continue
        before = tokens[index - 1] if index and not sentence[tokens[index - 1].end : token.start].strip() else None
        if before is None or before.text in BEFORE:
            if _is_rare(token):
                yield token.text, written
            continue
        pair = sentence[before.start : token.end]
        has_rare_word = not (is_common_word(token.text) and is_common_word(before.text))
        if has_rare_word and pair[1:].islower() and _may_describe(before):
            yield f"{before.text} {token.text}", pair.lower()
        if _is_rare(token):
            yield token.text, written


@lru_cache(maxsize=20_000)
def is_worth_naming(phrase: str) -> bool:
    """Whether no feature, aspect or complaint of the lexicon has the phrase already, and it accuses nobody."""
    lexicon = load_lexicon(ENGLISH)
    patterns = (
        *(feature.patterns[ENGLISH] for feature in load_features() if ENGLISH in feature.patterns),
        *lexicon.aspects.values(),
        *lexicon.watch_outs.values(),
        *lexicon.low_star_watch_outs.values(),
        _banned(),
    )
    return not any(pattern.search(f"the {phrase}") or pattern.search(phrase) for pattern in patterns)


@cache
def _banned() -> re.Pattern[str]:
    """Words that no insight says: accusations, diets and health, orders to programs, advertising."""
    banned = read_lexicon("banned")
    words = (banned[name] for name in ("injection", "address", "numbers", "advertising", "accusation", "sensitive"))
    return re.compile(rf"\b(?:{'|'.join(words)})\b", re.IGNORECASE)


def _may_be_noun(token: Token) -> bool:
    return (
        token.kind is None
        and len(token.text) >= MIN_LETTERS_IN_PAIR
        and token.text.isalpha()
        and token.text not in BEFORE
        and token.text not in AFTER
        and not sentiment.is_emotional(token.text)
    )


def _is_rare(token: Token) -> bool:
    return len(token.text) >= MIN_LETTERS and not is_common_word(token.text)


def _may_describe(token: Token) -> bool:
    is_function_word = token.text in BEFORE or token.text in AFTER
    return (
        len(token.text) > 2
        and token.text.isalpha()
        and not is_function_word
        and not sentiment.is_emotional(token.text)
    )


def _ends_phrase(sentence: str, tokens: Sequence[Token], index: int) -> bool:
    if index + 1 == len(tokens):
        return True
    following = tokens[index + 1]
    between = sentence[tokens[index].end : following.start]
    return bool(between.strip()) or following.text in AFTER
