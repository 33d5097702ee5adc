"""Validation of model output: only sentences and dishes that reviews support remain, and we count the mentions."""

import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache

from anyascii import anyascii
from rapidfuzz import fuzz

from catalogue.insights.analysis import dish_names, review_analysis, sentiment
from catalogue.insights.analysis.aspect_lexicon import ENGLISH, common_english_words, fold_case, load_lexicon
from catalogue.insights.analysis.review_analysis import MentionTally
from catalogue.insights.guardrails import citation_support, prompt_injection
from catalogue.insights.guardrails.citation_support import STRONG_POLARITY, ReviewEvidence
from catalogue.insights.providers import extractive
from catalogue.insights.providers.base import (
    MAX_CITATIONS,
    MAX_TEXT_LENGTH,
    Claim,
    Context,
    InsightDraft,
    ReviewInput,
    Sentence,
)
from catalogue.insights.providers.extractive import MAX_DISHES, min_dish_mentions
from catalogue.insights.providers.prompt import CitedText, ModelOutput, Prompt

# Latin letters and the punctuation of one plain sentence: no digits, quotation marks or markup.
SENTENCE = re.compile(rf"[A-Z][{dish_names.LATIN} ,;()'\u2019-]{{19,219}}\.")
NAME = re.compile(rf"[{dish_names.LATIN}]+(?:[ '\u2019-]+[{dish_names.LATIN}]+){{0,4}}")
CAPITALIZED = re.compile(rf"(?<![{dish_names.LATIN}'\u2019])[A-Z\u00c0-\u00de][{dish_names.LATIN}]*")
MIN_NAME_LENGTH, MAX_NAME_LENGTH = 3, 40
# The similarity from which a text contains a name with a spelling mistake. Names of at most SHORT_NAME letters must be
# words of the text, because they are parts of too many words.
MIN_SIMILARITY = 85
SHORT_NAME = 4
# Names without a known food word need more reviews, and have fewer words.
MIN_UNKNOWN_MENTIONS = 3
MAX_UNKNOWN_WORDS = 3
# Average stars below and above which a text must not be all positive or all negative.
LOW_RATING, HIGH_RATING = 2.5, 4.0
# If a larger share of the sentences fails, the whole output is rejected.
MAX_FAILED_SHARE = 0.5


class OutputRejected(Exception):
    """The output is not valid. The message is for staff, without text of the model."""


@dataclass(frozen=True, slots=True)
class BannedPatterns:
    """lexicon/banned.toml; `banned` by the reason that staff see."""

    injection: re.Pattern[str]
    banned: Mapping[str, re.Pattern[str]]
    openings: re.Pattern[str]
    proper: frozenset[str]


BANNED_REASONS = {
    "address": "speaks to the reader",
    "numbers": "has a number",
    "advertising": "advertises or compares",
    "accusation": "accuses",
    "sensitive": "speaks of diets, health, faith, law or payment",
    "negation": "denies",
}


@cache
def load_banned_patterns() -> BannedPatterns:
    """Load the patterns, once."""
    content = dish_names.read_lexicon("banned")

    def compile_words(name: str) -> re.Pattern[str]:
        return re.compile(rf"\b(?:{content[name]})\b", re.IGNORECASE)

    return BannedPatterns(
        injection=compile_words("injection"),
        banned={reason: compile_words(name) for name, reason in BANNED_REASONS.items()},
        openings=re.compile(rf"(?:{content['openings']})\b"),
        proper=frozenset(content["proper"].split("|")),
    )


def validate_output(output: ModelOutput, *, prompt: Prompt, context: Context, model: str) -> InsightDraft:
    """Check the output against the reviews of the prompt, and count dishes in all reviews of the context.

    Aspects, complaints and times are counted locally, so the model cannot omit one. A sign of prompt injection in any
    sentence or dish rejects the whole output. About 0.2 ms for each review of the context. Raises OutputRejected.
    """
    if any(shows_injection(item.text) for item in (*output.sentences, *output.dishes)):
        raise OutputRejected("The output shows signs of a prompt injection: links, code or orders.")
    # All claims but dishes are counted locally, whatever the model writes.
    local = extractive.generate(context)
    dishes = _validate_dishes(output.dishes, prompt=prompt, context=context, local=local.dishes)
    allowed_words = _allowed_capitalized([context.name, *(claim.name for claim in dishes)])
    labels = {label for item in output.sentences for label in item.citations} & prompt.reviews.keys()
    evidence = {label: built for label in labels if (built := citation_support.build_evidence(prompt.reviews[label]))}
    valid: list[Sentence] = []
    failures: Counter[str] = Counter()
    for item in output.sentences:
        result = _validate_sentence(item, prompt=prompt, evidence=evidence, allowed_words=allowed_words)
        if isinstance(result, str):
            failures[result] += 1
        elif result.text not in {sentence.text for sentence in valid}:
            valid.append(result)
    reasons = ", ".join(f"{count} {reason}" for reason, count in sorted(failures.items()))
    if not valid:
        raise OutputRejected(f"No sentence is valid: {reasons}." if failures else "The model wrote no sentence.")
    if failures.total() > MAX_FAILED_SHARE * len(output.sentences):
        raise OutputRejected(f"{failures.total()} of {len(output.sentences)} sentences are invalid: {reasons}.")
    while len(" ".join(sentence.text for sentence in valid)) > MAX_TEXT_LENGTH:
        valid.pop()
    _check_polarity(valid, context.reviews)
    disclosure = (
        f"The text was written by a language model ({model}) from {len(prompt.reviews)} of {len(context.reviews)}"
        f" reviews, and a program checked each sentence against those that it cites. {local.disclosure}"
    )
    text = " ".join(sentence.text for sentence in valid)
    return replace(local, text=text, sentences=tuple(valid), dishes=dishes, disclosure=disclosure)


def shows_injection(text: str) -> bool:
    """Whether a text is suspicious or has words that only an obeyed prompt injection explains."""
    normalized = prompt_injection.normalize_text(text)
    pattern = load_banned_patterns().injection
    return prompt_injection.is_suspicious(text) or bool(
        pattern.search(normalized) or pattern.search(anyascii(normalized))
    )


def contains_name(text: str, name: str) -> bool:
    """Whether a text contains a name, both of `to_ascii`, also with a spelling mistake."""
    if len(name) <= SHORT_NAME:
        return bool(re.search(rf"\b{re.escape(name)}\b", text))
    # partial_ratio would search a shorter text in the name.
    return len(text) >= len(name) and fuzz.partial_ratio(name, text) >= MIN_SIMILARITY


def to_ascii(text: str) -> str:
    """The text in lower-case ASCII letters."""
    return anyascii(prompt_injection.normalize_text(text)).lower()


def _validate_sentence(
    item: CitedText, *, prompt: Prompt, evidence: Mapping[str, ReviewEvidence], allowed_words: frozenset[str]
) -> Sentence | str:
    """The sentence with the citations that support it, or the reason why it is invalid."""
    text, patterns = prompt_injection.normalize_text(item.text), load_banned_patterns()
    if not SENTENCE.fullmatch(text):
        return "is no plain sentence"
    for reason, words in patterns.banned.items():
        if words.search(text):
            return reason
    if not patterns.openings.match(text):
        return "does not begin as it should"
    if any(dish_names.normalize_word(word[0]) not in allowed_words for word in CAPITALIZED.finditer(text, 1)):
        return "has a name"
    if not citation_support.load_support_lexicon().free.intersection(map(citation_support.stem, text.split()[1:])):
        return "is not English"
    if not any(label in prompt.reviews for label in item.citations):
        return "cites no review that there is"
    support = citation_support.find_support(text, [evidence[label] for label in item.citations if label in evidence])
    if isinstance(support, str):
        return support
    return Sentence(text, tuple(reviewed.review.id for reviewed in support[:MAX_CITATIONS]))


def _allowed_capitalized(names: Sequence[str]) -> frozenset[str]:
    """The normalized words that may be capitalized within a sentence: of these names, of food, and proper ones."""
    words = (word for name in names for word in name.split())
    allowed = map(dish_names.normalize_word, (*words, *load_banned_patterns().proper))
    return frozenset(allowed) | dish_names.load_vocabulary().kinds.keys()


def _check_polarity(sentences: Sequence[Sentence], reviews: Sequence[ReviewInput]) -> None:
    """Raise OutputRejected if the text is all positive about a low rating or all negative about a high one."""
    polarities = [sentiment.text_polarity(sentence.text) for sentence in sentences]
    stars = sum(review.stars for review in reviews) / len(reviews)
    if stars < LOW_RATING and all(polarity >= STRONG_POLARITY for polarity in polarities):
        raise OutputRejected("The text only praises, and the stars do not.")
    if stars >= HIGH_RATING and all(polarity <= -STRONG_POLARITY for polarity in polarities):
        raise OutputRejected("The text only criticizes, and the stars do not.")


def _validate_dishes(
    items: Sequence[CitedText], *, prompt: Prompt, context: Context, local: Sequence[Claim]
) -> tuple[Claim, ...]:
    """The local dishes and those of the model that reviews support, the most mentioned first."""
    claims = list(local)
    for item in items:
        if claim := _validate_dish(item, prompt=prompt, context=context):
            name = f" {to_ascii(claim.name)} "
            # A name that contains another one would count the same reviews twice.
            others = [f" {to_ascii(other.name)} " for other in claims]
            if not any(name in other or other in name for other in others):
                claims.append(claim)
    claims.sort(key=lambda claim: (-claim.mentions, -claim.positive_share, claim.name))
    return tuple(claims[:MAX_DISHES])


def _validate_dish(item: CitedText, *, prompt: Prompt, context: Context) -> Claim | None:
    """The claim of a dish of the model; None if the cited reviews do not mention it or too few reviews do."""
    name = prompt_injection.normalize_text(item.text)
    key = to_ascii(name)
    if not (MIN_NAME_LENGTH <= len(name) <= MAX_NAME_LENGTH and NAME.fullmatch(name)):
        return None
    if f" {key} " in f" {to_ascii(context.name)} ":
        return None
    if any(words.search(name) for words in load_banned_patterns().banned.values()):
        return None
    words = key.split()
    kinds = dish_names.load_vocabulary().kinds
    is_known = any(kinds.get(dish_names.normalize_word(word)) in {"dish", "food"} for word in words)
    if not is_known and (len(words) > MAX_UNKNOWN_WORDS or _is_other_word(name, words)):
        return None
    cited = [prompt.reviews[label] for label in item.citations if label in prompt.reviews]
    texts = [to_ascii(review.text) for review in cited if review_analysis.analyzed_language(review)]
    # At least one cited review has exactly this spelling.
    if not any(key in text and contains_name(text, key) for text in texts):
        return None
    tally = MentionTally()
    for review, polarity in _mentions(key, context.reviews):
        tally.add(review, polarity)
    claim = tally.to_claim(name)
    min_mentions = min_dish_mentions(key, reviews=len(context.reviews)) if is_known else MIN_UNKNOWN_MENTIONS
    return claim if claim.mentions >= min_mentions else None


def _is_other_word(name: str, words: Sequence[str]) -> bool:
    """Whether a name without a food word has a word of the English lexicons, so that it is no dish."""
    lexicon, free = load_lexicon(ENGLISH), citation_support.load_support_lexicon().free
    if any(word in common_english_words() or citation_support.stem(word) in free for word in words):
        return True
    folded = fold_case(name)
    return any(pattern.search(folded) for pattern in (*lexicon.aspects.values(), *lexicon.watch_outs.values()))


def _mentions(key: str, reviews: Sequence[ReviewInput]) -> Iterator[tuple[ReviewInput, float]]:
    """The sentences that contain a name, with their polarity; in other languages with that of the stars."""
    for review in reviews:
        text = review.text[: review_analysis.MAX_CHARS]
        if not contains_name(to_ascii(text), key) or prompt_injection.is_suspicious(review.text):
            continue
        lang = review_analysis.analyzed_language(review)
        for sentence in review_analysis.SENTENCE.findall(text):
            if contains_name(to_ascii(sentence), key):
                polarity = sentiment.star_polarity(review.stars)
                yield review, load_lexicon(lang).polarity(sentence, stars=review.stars) if lang else polarity
