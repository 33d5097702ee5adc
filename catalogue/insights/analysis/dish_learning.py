"""Names of dishes that the lexicon does not have, learned from the reviews of one restaurant."""

import re
from collections import defaultdict
from collections.abc import Iterator, Sequence, Set
from dataclasses import dataclass, field
from functools import cache

from catalogue.insights.analysis import sentiment
from catalogue.insights.analysis.dish_names import Token, is_common_word, read_lexicon

# A word is learned from so many reviews and this share of them.
MIN_REVIEWS, MIN_SHARE = 4, 0.04
# Of the reviews with a word, so many speak of it as of something to eat.
MIN_EATEN_REVIEWS, MIN_EATEN_SHARE = 3, 0.3
# Of the uses of a word within a sentence, so many are in lower case: others are names of people and places.
MIN_LOWER_SHARE = 0.4
# A word belongs to a dish word if so many of the reviews with the word write both side by side.
MIN_PAIR_SHARE = 0.5
# Words between a verb and what was eaten.
MAX_WORDS_BETWEEN = 2

FOOD_ADJECTIVE = re.compile(
    r"\b(?:delicious|tasty|yum\w*|crisp\w*|juicy|tender|creamy|spicy|sweet|salty|soggy|stale|bland|dry|chewy|hot"
    r"|under ?cooked|over ?cooked|cooked|flavou?r\w*|mouth ?watering|lip ?smacking|finger|melt\w*|succulent|moist|oily"
    r"|greasy|soft|fresh|scrumptious|divine|heavenly)\b",
    re.IGNORECASE,
)
LIST_SEPARATOR = re.compile(r"\s*(?:,|&|\+|/|,?\s+and)\s*", re.IGNORECASE)
PUNCTUATION = re.compile(r"[.,;:!?()]")


@dataclass(frozen=True, slots=True)
class EatingWords:
    """Verbs of eating, the words between them and what was eaten, and verbs before a description."""

    verbs: Set[str]
    determiners: Set[str]
    copulas: Set[str]


@cache
def load_eating_words() -> EatingWords:
    """Load them from lexicon/common_words.toml, once."""
    content = read_lexicon("common_words")
    return EatingWords(*(frozenset(content[name].split()) for name in ("verbs", "determiners", "copulas")))


@dataclass(slots=True)
class WordUse:
    """The reviews with an unknown word: all, those that eat it, and its uses in lower case."""

    reviews: set[str] = field(default_factory=set)
    eaten: set[str] = field(default_factory=set)
    uses: int = 0
    lower: int = 0


@dataclass(slots=True)
class DishLearner:
    """Collects the unknown words of reviews, and those beside a known food word."""

    words: dict[str, WordUse] = field(default_factory=lambda: defaultdict(WordUse))
    pairs: dict[tuple[str, str], set[str]] = field(default_factory=lambda: defaultdict(set))
    followers: dict[tuple[str, str], set[str]] = field(default_factory=lambda: defaultdict(set))

    def add(self, review: str, sentence: str, tokens: Sequence[Token]) -> None:
        """Read an English sentence."""
        for index, token in enumerate(tokens):
            if token.kind or token.text.isdigit() or is_common_word(token.text) or sentiment.is_emotional(token.text):
                continue
            use = self.words[token.text]
            use.reviews.add(review)
            if index:
                use.uses += 1
                use.lower += sentence[token.start].islower()
            if _is_eaten(sentence, tokens, index):
                use.eaten.add(review)
            for other in _neighbours(sentence, tokens, index):
                if other.kind in ("dish", "food"):
                    self.pairs[token.text, other.text].add(review)
                elif other.kind is None:
                    self.followers[token.text, other.text].add(review)

    def learn(self, *, reviews: int, excluded: Set[str]) -> dict[str, str]:
        """The kinds of the learned words, without the excluded ones."""
        least = max(MIN_REVIEWS, MIN_SHARE * reviews)
        frequent = {
            word: use for word, use in self.words.items() if len(use.reviews) >= least and word not in excluded
        }
        kinds: dict[str, str] = {}
        for (word, _), pair in self.pairs.items():
            if word in frequent and len(pair) >= max(least, MIN_PAIR_SHARE * len(frequent[word].reviews)):
                kinds[word] = "kind"
        for word, use in frequent.items():
            is_eaten = len(use.eaten) >= max(MIN_EATEN_REVIEWS, MIN_EATEN_SHARE * len(use.reviews))
            if is_eaten and len(word) > 3 and use.lower >= MIN_LOWER_SHARE * use.uses:
                kinds.setdefault(word, "dish")
        # Names of two unknown words: "ragi sangati".
        for (word, other), pair in self.followers.items():
            is_name = kinds.get(word) == "dish" and other in frequent and other not in kinds
            if is_name and len(pair) >= max(least, MIN_PAIR_SHARE * len(frequent[other].reviews)):
                kinds[other] = "kind"
        return kinds


def _neighbours(sentence: str, tokens: Sequence[Token], index: int) -> Iterator[Token]:
    token = tokens[index]
    if index and not sentence[tokens[index - 1].end : token.start].strip():
        yield tokens[index - 1]
    if index + 1 < len(tokens) and not sentence[token.end : tokens[index + 1].start].strip():
        yield tokens[index + 1]


def _is_eaten(sentence: str, tokens: Sequence[Token], index: int) -> bool:
    """Whether a word follows a verb of eating, is described as food, or stands in a list with a known dish."""
    token = tokens[index]
    before = index - 1
    while (
        before >= 0 and index - before <= MAX_WORDS_BETWEEN and tokens[before].text in load_eating_words().determiners
    ):
        before -= 1
    is_object = before >= 0 and not PUNCTUATION.search(sentence, tokens[before].end, token.start)
    if is_object and sentence[tokens[before].start : tokens[before].end].lower() in load_eating_words().verbs:
        return True
    for other in tokens[index + 1 : index + 3]:
        if sentence[other.start : other.end].lower() in load_eating_words().copulas and FOOD_ADJECTIVE.search(
            sentence[other.end : other.end + 30]
        ):
            return True
    before_it = [(other, sentence[other.end : token.start]) for other in tokens[max(0, index - 2) : index]]
    after_it = [(other, sentence[token.end : other.start]) for other in tokens[index + 1 : index + 3]]
    return any(
        other.kind == "dish" and LIST_SEPARATOR.fullmatch(between) for other, between in (*before_it, *after_it)
    )
