"""What stands of a model's answer: sentences and dishes that reviews carry; all that is counted, we count."""

import re
import tomllib
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache

from anyascii import anyascii
from rapidfuzz import fuzz

from catalogue.insights.analysis import dish_names, review_analysis, sentiment
from catalogue.insights.analysis.aspect_lexicon import ENGLISH, common, cues
from catalogue.insights.analysis.review_analysis import RecordCount
from catalogue.insights.guardrails import citation_support, prompt_injection
from catalogue.insights.guardrails.citation_support import STRONG, Voice
from catalogue.insights.providers.base import LONGEST, MOST_CITED, Claim, Context, InsightDraft, Opinion, Sentence
from catalogue.insights.providers.extractive import FEWEST, MOST_DISHES, Extractive
from catalogue.insights.providers.prompt import Answer, Part, Question

# Our claims are those of the program, whatever a model says or leaves out.
COUNTS = Extractive()
# Letters of the Latin script and the marks of plain prose: no digits, no quotation marks, no markup; one sentence.
SENTENCE = re.compile(rf"[A-Z][{dish_names.LATIN} ,;()'\u2019-]{{19,219}}\.")
NAME = re.compile(rf"[{dish_names.LATIN}]+(?:[ '\u2019-]+[{dish_names.LATIN}]+){{0,4}}")
CAPITAL = re.compile(rf"(?<![{dish_names.LATIN}'\u2019])[A-Z\u00c0-\u00de][{dish_names.LATIN}]*")
SHORTEST_NAME, LONGEST_NAME = 3, 40
# A name with a spelling mistake is the name still; one so short is a part of too many words.
CARRIED = 85
SHORT_NAME = 4
# Of a name without a word that we know for food more have to speak, and it is shorter.
FEWEST_OF_UNKNOWN = 3
MOST_UNKNOWN_WORDS = 3
# Stars of a place of which a text does not say the contrary.
POOR_PLACE, RICH_PLACE = 2.5, 4.0
# An answer of which more falls is not to be trusted with the rest.
MOST_FALLEN = 0.5


@dataclass(frozen=True, slots=True)
class Verdict:
    """A draft that stands, or why there is none, for staff and without a word of the model."""

    draft: InsightDraft | None
    reason: str = ""


@dataclass(frozen=True, slots=True)
class Barred:
    """The expressions of lexicon/banned.toml."""

    told: re.Pattern[str]
    fallen: Mapping[str, re.Pattern[str]]
    openings: re.Pattern[str]
    proper: frozenset[str]


# What staff are told of each.
FALLEN = {
    "addressed": "speaks to the reader",
    "numbers": "has a number",
    "advertised": "advertises or compares",
    "accused": "accuses",
    "perilous": "speaks of diets, health, faith, law or payment",
    "denied": "denies",
}


@cache
def barred() -> Barred:
    """What no sentence of a model may hold, read once."""
    with (dish_names.WORDS / "banned.toml").open("rb") as file:
        read = tomllib.load(file)

    def words(name: str) -> re.Pattern[str]:
        return re.compile(rf"\b(?:{read[name]})\b", re.IGNORECASE)

    return Barred(
        told=words("told"),
        fallen={why: words(name) for name, why in FALLEN.items()},
        openings=re.compile(rf"(?:{read['openings']})\b"),
        proper=frozenset(read["proper"].split("|")),
    )


def verify(answer: Answer, *, question: Question, context: Context, model: str) -> Verdict:
    """Hold an answer against the reviews that the model was given, and count in all of them.

    Aspects, complaints and times are the program's own, so nobody can have one left out. A sentence or a dish that
    shows that somebody has told the model what to say makes all of it fall. About 0.2 ms a review of the context.
    """
    parts = [*answer.sentences, *answer.dishes]
    if any(was_told(part.text) for part in parts):
        return Verdict(None, "The model says what only somebody who was told to would say: links, code or orders.")
    counted = COUNTS.generate(context)
    named = _dishes(answer.dishes, question=question, context=context, known=counted.dishes)
    allowed = _allowed(context.name, [claim.name for claim in named])
    cited = {label for part in answer.sentences for label in part.citations} & question.reviews.keys()
    voices = {label: voice for label in cited if (voice := citation_support.voice(question.reviews[label]))}
    stand: list[Sentence] = []
    fallen: Counter[str] = Counter()
    for part in answer.sentences:
        judged = _sentence(part, question=question, voices=voices, allowed=allowed)
        if isinstance(judged, str):
            fallen[judged] += 1
        elif judged.text not in {each.text for each in stand}:
            stand.append(judged)
    why = ", ".join(f"{count} {reason}" for reason, count in sorted(fallen.items()))
    if not stand:
        return Verdict(None, f"No sentence stands: {why}." if fallen else "The model wrote no sentence.")
    if fallen.total() > MOST_FALLEN * len(answer.sentences):
        return Verdict(None, f"{fallen.total()} of {len(answer.sentences)} sentences fall: {why}.")
    kept = _fitting(stand)
    if wrong := _wrong_tone(kept, context.reviews):
        return Verdict(None, wrong)
    given, total = len(question.reviews), len(context.reviews)
    made = (
        f"The text was written by a language model ({model}) from {given} of {total} reviews, and a program held each"
        f" sentence against those that it cites. {counted.disclosure}"
    )
    return Verdict(
        replace(
            counted,
            text=" ".join(sentence.text for sentence in kept),
            sentences=tuple(kept),
            dishes=named,
            disclosure=made,
        )
    )


def was_told(text: str) -> bool:
    """Whether only who was told to writes so: what no guest writes, words of machines, letters that are disguised."""
    seen = prompt_injection.plain(text)
    return prompt_injection.is_strange(text) or bool(
        barred().told.search(seen) or barred().told.search(anyascii(seen))
    )


def carries(name: str, text: str) -> bool:
    """Whether a text names a dish, both folded: with a spelling mistake too, but a short name as a word of its own."""
    if len(name) <= SHORT_NAME:
        return bool(re.search(rf"\b{re.escape(name)}\b", text))
    # Of a shorter text it would be asked whether that is in the name.
    return len(text) >= len(name) and fuzz.partial_ratio(name, text) >= CARRIED


def folded(text: str) -> str:
    """In small letters of ASCII."""
    return anyascii(prompt_injection.plain(text)).lower()


def _sentence(
    part: Part, *, question: Question, voices: Mapping[str, Voice], allowed: frozenset[str]
) -> Sentence | str:
    """The sentence with the citations that carry it, or why it falls."""
    text, known = prompt_injection.plain(part.text), barred()
    if not SENTENCE.fullmatch(text):
        return "is no plain sentence"
    for why, words in known.fallen.items():
        if words.search(text):
            return why
    if not known.openings.match(text):
        return "does not begin as it should"
    if any(dish_names.fold(word[0]) not in allowed for word in CAPITAL.finditer(text, 1)):
        return "has a name"
    if not citation_support.own().free.intersection(map(citation_support.stem, text.split()[1:])):
        return "is not English"
    if not any(label in question.reviews for label in part.citations):
        return "cites no review that there is"
    carried = citation_support.carried(text, [voices[label] for label in part.citations if label in voices])
    if isinstance(carried, str):
        return carried
    return Sentence(text, tuple(voice.review.id for voice in carried[:MOST_CITED]))


def _allowed(restaurant: str, named: Sequence[str]) -> frozenset[str]:
    """Words that may have a capital within a sentence, folded."""
    words = (word for name in (restaurant, *named) for word in name.split())
    return frozenset(map(dish_names.fold, (*words, *barred().proper))) | dish_names.vocabulary().kinds.keys()


def _fitting(sentences: Sequence[Sentence]) -> list[Sentence]:
    """The first ones, as many as fit into LONGEST characters."""
    kept: list[Sentence] = []
    for sentence in sentences:
        if len(" ".join(each.text for each in (*kept, sentence))) > LONGEST:
            break
        kept.append(sentence)
    return kept


def _wrong_tone(sentences: Sequence[Sentence], reviews: Sequence[Opinion]) -> str:
    """Why a text is not to be trusted that only praises a poor place, or only damns a good one; else empty."""
    moods = [sentiment.mood(sentence.text, stars=3) for sentence in sentences]
    stars = sum(review.stars for review in reviews) / len(reviews)
    if stars < POOR_PLACE and all(mood >= STRONG for mood in moods):
        return "The text only praises, and the stars do not."
    if stars >= RICH_PLACE and all(mood <= -STRONG for mood in moods):
        return "The text only damns, and the stars do not."
    return ""


def _dishes(
    parts: Sequence[Part], *, question: Question, context: Context, known: Sequence[Claim]
) -> tuple[Claim, ...]:
    """Our dishes and those of the model that the reviews carry, the most named first."""
    claims = list(known)
    for part in parts:
        if claim := _dish(part, question=question, context=context):
            ours = [f" {folded(each.name)} " for each in claims]
            its = f" {folded(claim.name)} "
            # What has another's name in it, or is in one, would count the same guests twice.
            if not any(its in each or each in its for each in ours):
                claims.append(claim)
    claims.sort(key=lambda claim: (-claim.mentions, -claim.positive_share, claim.name))
    return tuple(claims[:MOST_DISHES])


def _dish(part: Part, *, question: Question, context: Context) -> Claim | None:
    """A dish that the model names, counted by us; None where the reviews that it cites do not carry it."""
    name = prompt_injection.plain(part.text)
    key = folded(name)
    if not (SHORTEST_NAME <= len(name) <= LONGEST_NAME and NAME.fullmatch(name)) or f" {key} " in (
        f" {folded(context.name)} "
    ):
        return None
    if any(words.search(name) for words in barred().fallen.values()):
        return None
    words = key.split()
    is_known = any(dish_names.vocabulary().kinds.get(dish_names.fold(word)) in {"dish", "food"} for word in words)
    if not is_known and (len(words) > MOST_UNKNOWN_WORDS or _is_no_food(name, words)):
        return None
    cited = [question.reviews[label] for label in part.citations if label in question.reviews]
    cited = [review for review in cited if review_analysis.language(review)]
    named = [text for text in (folded(review.text) for review in cited) if carries(key, text)]
    # The name as it is shown stands somewhere, letter by letter.
    if not any(key in text for text in named):
        return None
    tally = RecordCount()
    for review, mood in _mentions(key, context.reviews):
        tally.add(review, mood)
    claim = tally.claim(name)
    return claim if claim.mentions >= (FEWEST if is_known else FEWEST_OF_UNKNOWN) else None


def _is_no_food(name: str, words: Sequence[str]) -> bool:
    """Whether a name without a word for food has one that says what else it is."""
    ours = cues(ENGLISH)
    sides = (*ours.aspects.values(), *ours.watch_outs.values())
    return any(
        word in common() or citation_support.stem(word) in citation_support.own().free for word in words
    ) or any(side.search(name) for side in sides)


def _mentions(key: str, reviews: Sequence[Opinion]) -> Iterator[tuple[Opinion, float]]:
    """Sentences that name it, with their mood; of texts without words that are read, the stars'."""
    for review in reviews:
        text = review.text[: review_analysis.MOST_READ]
        if not carries(key, folded(text)) or prompt_injection.is_strange(review.text):
            continue
        lang = review_analysis.language(review)
        for sentence in review_analysis.SENTENCE.findall(text):
            if carries(key, folded(sentence)):
                yield (
                    review,
                    cues(lang).mood(sentence, stars=review.stars) if lang else sentiment.by_stars(review.stars),
                )
