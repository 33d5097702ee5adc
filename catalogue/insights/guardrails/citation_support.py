"""Textual support: do the cited reviews contain the words, the quantity and the polarity of a sentence?"""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache, lru_cache

from anyascii import anyascii

from catalogue.insights.analysis import dish_names, review_analysis, sentiment
from catalogue.insights.analysis.aspect_lexicon import AspectLexicon, fold_case, load_lexicon
from catalogue.insights.providers.base import ReviewInput

WORD = re.compile(r"[^\W\d_]+(?:['\u2019][^\W\d_]+)*")
# A negation applies to so many words after it.
NEGATION_SCOPE = 3
# Sentences about other places, the past, wishes and questions are no evidence.
NOT_EVIDENCE = re.compile(
    r"\b(next door|opposite|elsewhere|across (the|from)|(a)?round the corner|down the (road|street)|used to|if only"
    r"|instead|unlike|other (places?|restaurants?)|(should|would|could) (have|be)|years ago)\b|\?\W*$",
    re.IGNORECASE,
)
# What separates the clauses of a sentence, and the items of a clause. One review must support a whole item.
CLAUSE_BOUNDARY = re.compile(r"[,;]? ?\b(?:but|though|although|while|whereas|however|yet)\b|;", re.IGNORECASE)
ITEM_BOUNDARY = re.compile(r",|\b(?:and|or|as well as)\b", re.IGNORECASE)
# The polarity from which a clause is positive or negative, whatever its words.
STRONG_POLARITY = 0.5

POLARITY_DIFFERS = "has another mood than the reviews that it cites"


@dataclass(frozen=True, slots=True)
class SupportLexicon:
    """lexicon/support_stopwords.toml as stems.

    `free` need no support. `counts` are the minimum numbers of reviews of quantifiers. `by_mention` and `by_complaint`
    are the stems that an aspect, advice or complaint in a review supports.
    """

    counts: Mapping[str, int]
    positive: frozenset[str]
    negative: frozenset[str]
    divided: frozenset[str]
    free: frozenset[str]
    by_mention: Mapping[str, frozenset[str]]
    by_complaint: Mapping[str, frozenset[str]]


@dataclass(frozen=True, slots=True)
class ReviewSentence:
    """A sentence of a review, the offsets of its stems, and the offsets of what the analysis found in it."""

    text: str
    stems: Mapping[str, int]
    mentions: frozenset[int]

    def polarity_at(self, start: int, *, lexicon: AspectLexicon, stars: int) -> float:
        """The polarity of the clause at this offset."""
        starts = sorted(self.mentions | {start})
        return lexicon.clause_polarities(self.text, starts, stars=stars)[starts.index(start)]


@dataclass(frozen=True, slots=True)
class ReviewEvidence:
    """An analyzed review: its sentences, where each supported stem is, and the stems that its complaints support."""

    review: ReviewInput
    lexicon: AspectLexicon
    sentences: Sequence[ReviewSentence]
    by_mention: Mapping[str, list[tuple[ReviewSentence, int]]]
    by_complaint: frozenset[str]

    def polarity_of(self, stems: frozenset[str]) -> float | None:
        """The polarity in which the review speaks of these stems; None if it does not support all of them.

        One sentence must contain all stems but those that the analysis of the whole review supports.
        """
        if not stems:
            return sentiment.star_polarity(self.review.stars)
        analyzed = stems & (self.by_mention.keys() | self.by_complaint)
        if not any(stems - analyzed <= sentence.stems.keys() for sentence in self.sentences):
            return None
        if stems & self.by_complaint:
            return -sentiment.STAR_WEIGHT
        places = [
            (sentence, sentence.stems[stem]) for sentence in self.sentences for stem in stems & sentence.stems.keys()
        ]
        places += [place for stem in analyzed for place in self.by_mention[stem]]
        stars = self.review.stars
        polarities = [sentence.polarity_at(start, lexicon=self.lexicon, stars=stars) for sentence, start in places]
        return sum(polarities) / len(polarities)


@dataclass(frozen=True, slots=True)
class Clause:
    """A clause of a sentence: the stems of its items, the number of reviews that it needs, and its polarity."""

    items: Sequence[frozenset[str]]
    min_reviews: int
    is_positive: bool
    is_negative: bool


@cache
def load_support_lexicon() -> SupportLexicon:
    """Load the lexicon, once."""
    content = dish_names.read_lexicon("support_stopwords")

    def stems(words: str) -> frozenset[str]:
        return frozenset(map(stem, words.split()))

    counts = {word: int(count) for count, words in content["counts"].items() for word in stems(words)}
    polarities = {name: stems(words) for name, words in content["moods"].items()}
    return SupportLexicon(
        counts=counts,
        positive=polarities["praise"],
        negative=polarities["complaint"],
        divided=polarities["divided"],
        free=stems(content["small"]).union(counts, *polarities.values()),
        by_mention={name: stems(words) for part in ("aspects", "times") for name, words in content[part].items()},
        by_complaint={name: stems(words) for name, words in content["watch_outs"].items()},
    )


@lru_cache(maxsize=10_000)
def stem(word: str) -> str:
    """Stem an English word: lower-case ASCII without the most common endings ("noise" and "noisy" are equal)."""
    word = anyascii(word).lower().removesuffix("'s")
    if len(word) > 3 and word.endswith("s") and not word.endswith("ss"):
        word = word[:-1]
    for ending, min_length in (("ing", 6), ("ed", 5), ("ly", 6)):
        if len(word) >= min_length and word.endswith(ending):
            word = word[: -len(ending)]
            break
    if len(word) > 3 and word[-1] in "eiy" and word[-2] not in "aeiou":
        word = word[:-1]
    return word[:-1] if len(word) > 3 and word[-1] == word[-2] else word


def build_evidence(review: ReviewInput) -> ReviewEvidence | None:
    """Analyze a cited review; None if its language is not analyzed, so that it supports nothing."""
    lang = review_analysis.analyzed_language(review)
    if not lang:
        return None
    support, lexicon = load_support_lexicon(), load_lexicon(lang)
    sentences: list[ReviewSentence] = []
    by_mention: dict[str, list[tuple[ReviewSentence, int]]] = {}
    by_complaint: set[str] = set()
    for text in review_analysis.split_sentences(review.text):
        if NOT_EVIDENCE.search(text):
            continue
        dishes = list(dish_names.find_dishes(text))
        folded = fold_case(text)
        stems = dict(_affirmed_stems(text, lexicon))
        stems |= {stem(word): dish.start for dish in dishes for word in dish.name.split()}
        mentions = {
            name: match.start()
            for table in (lexicon.aspects, lexicon.times)
            for name, pattern in table.items()
            if (match := pattern.search(folded))
        }
        if dishes:
            mentions.setdefault("food", dishes[0].start)
        complaints = {
            name: start
            for name in support.by_complaint
            if (start := lexicon.find_complaint(name, folded, stars=review.stars)) is not None
        }
        starts = (*(dish.start for dish in dishes), *mentions.values(), *complaints.values())
        sentence = ReviewSentence(text, stems, frozenset(starts))
        sentences.append(sentence)
        for name, start in mentions.items():
            for word in support.by_mention[name]:
                by_mention.setdefault(word, []).append((sentence, start))
        for name, start in complaints.items():
            polarity = sentence.polarity_at(start, lexicon=lexicon, stars=review.stars)
            if polarity <= sentiment.POLARITY_THRESHOLD:
                by_complaint |= support.by_complaint[name]
    return ReviewEvidence(review, lexicon, sentences, by_mention, frozenset(by_complaint))


def find_support(sentence: str, cited: Sequence[ReviewEvidence]) -> str | list[ReviewEvidence]:
    """The cited reviews that support a sentence, or the reason why it is unsupported."""
    if not cited:
        return "cites no review that is read"
    clauses = list(_clauses(sentence))
    if not any(item for clause in clauses for item in clause.items):
        return "says nothing of the place"
    supporting: set[str] = set()
    for clause in clauses:
        positive, negative, all_reviews = [], [], []
        for item in clause.items:
            polarities = [
                (evidence.review.id, polarity)
                for evidence in cited
                if (polarity := evidence.polarity_of(item)) is not None
            ]
            if not polarities:
                return "says more than the reviews that it cites"
            item_positive = [review for review, polarity in polarities if polarity > sentiment.POLARITY_THRESHOLD]
            item_negative = [review for review, polarity in polarities if polarity < -sentiment.POLARITY_THRESHOLD]
            balance = len(item_positive) - len(item_negative)
            if clause.is_positive != clause.is_negative and (balance if clause.is_positive else -balance) <= 0:
                return POLARITY_DIFFERS
            positive += item_positive
            negative += item_negative
            all_reviews += [review for review, _ in polarities]
        if clause.is_positive and clause.is_negative and not (positive and negative):
            return POLARITY_DIFFERS
        is_mixed = clause.is_positive == clause.is_negative
        reviews = set(all_reviews if is_mixed else positive if clause.is_positive else negative)
        if len(reviews) < clause.min_reviews:
            return "counts more guests than it cites"
        supporting |= reviews
    return [evidence for evidence in cited if evidence.review.id in supporting]


def _clauses(sentence: str) -> Iterator[Clause]:
    """Split a sentence into clauses. A clause without a quantifier has that of the clause before it."""
    support = load_support_lexicon()
    min_reviews = 1
    for clause in CLAUSE_BOUNDARY.split(sentence):
        items = [frozenset(map(stem, WORD.findall(item))) for item in ITEM_BOUNDARY.split(clause)]
        words = frozenset().union(*items)
        min_reviews = max((support.counts[word] for word in words & support.counts.keys()), default=min_reviews)
        polarity = sentiment.text_polarity(clause)
        is_divided = bool(words & support.divided)
        yield Clause(
            items=[item - support.free for item in items if item - support.free] or [frozenset()],
            min_reviews=min_reviews,
            is_positive=is_divided or bool(words & support.positive) or polarity >= STRONG_POLARITY,
            is_negative=is_divided or bool(words & support.negative) or polarity <= -STRONG_POLARITY,
        )


def _affirmed_stems(text: str, lexicon: AspectLexicon) -> Iterator[tuple[str, int]]:
    """The stems of a sentence that are not negated, and their offsets."""
    negated, end = 0, 0
    for match in WORD.finditer(text):
        if negated and any(char in ",;:" for char in text[end : match.start()]):
            negated = 0
        end = match.end()
        if lexicon.negation.fullmatch(match[0]):
            negated = NEGATION_SCOPE
        elif negated:
            negated -= 1
        else:
            yield stem(match[0]), match.start()
