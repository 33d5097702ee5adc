"""Whether the reviews that a sentence cites carry it: each of its words, how many they are, and their mood."""

import re
import tomllib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache, lru_cache

from anyascii import anyascii

from catalogue.insights.analysis import dish_names, review_analysis, sentiment
from catalogue.insights.analysis.aspect_lexicon import Cues, cues
from catalogue.insights.providers.base import Opinion

WORD = re.compile(r"[^\W\d_]+(?:['\u2019][^\W\d_]+)*")
# So many words behind a denial are denied.
DENIED = 3
# In what may be of another place, of long ago or only wished for no word counts.
ELSEWHERE = re.compile(
    r"\b(next door|opposite|elsewhere|across (the|from)|(a)?round the corner|down the (road|street)|used to|if only"
    r"|instead|unlike|other (places?|restaurants?)|(should|would|could) (have|be)|years ago)\b|\?\W*$",
    re.IGNORECASE,
)
# Where a sentence turns, and what joins the things that it names; each of those is carried by one review.
TURN = re.compile(r"[,;]? ?\b(?:but|though|although|while|whereas|however|yet)\b|;", re.IGNORECASE)
JOINT = re.compile(r",|\b(?:and|or|as well as)\b", re.IGNORECASE)
# From here on the words of a sentence praise or damn, whichever they are.
STRONG = 0.5

FEWER = "counts more guests than it cites"
MORE = "says more than the reviews that it cites"
OTHER_MOOD = "has another mood than the reviews that it cites"
SILENT = "cites no review that is read"
SAYS_NOTHING = "says nothing of the place"


@dataclass(frozen=True, slots=True)
class Own:
    """The stems of lexicon/support_stopwords.toml that need no review, and by finding those that it licenses."""

    counts: Mapping[str, int]
    praise: frozenset[str]
    complaint: frozenset[str]
    divided: frozenset[str]
    free: frozenset[str]
    findings: Mapping[str, frozenset[str]]
    complaints: Mapping[str, frozenset[str]]


@dataclass(frozen=True, slots=True)
class Heard:
    """A sentence of a review, where its words begin, and where what was found in it does."""

    text: str
    words: Mapping[str, int]
    things: frozenset[int]

    def mood(self, start: int, *, known: Cues, stars: int) -> float:
        """The mood of the part of it in which this place is."""
        starts = sorted(self.things | {start})
        return known.moods(self.text, starts, stars=stars)[starts.index(start)]


@dataclass(frozen=True, slots=True)
class Voice:
    """A review in a language that is read: its sentences, what was found in it, and what it complains of."""

    review: Opinion
    known: Cues
    heard: Sequence[Heard]
    found: Mapping[str, list[tuple[Heard, int]]]
    complains: frozenset[str]

    def mood(self, needs: frozenset[str]) -> float | None:
        """The mood in which it speaks of these words; None where it does not carry them all.

        One of its sentences has them, and of its other parts may be what we have words of our own for.
        """
        if not needs:
            return sentiment.by_stars(self.review.stars)
        ours = needs & (self.found.keys() | self.complains)
        if not any(needs - ours <= each.words.keys() for each in self.heard):
            return None
        if needs & self.complains:
            return -sentiment.STARS
        places = [(each, each.words[word]) for each in self.heard for word in needs & each.words.keys()]
        places += [place for word in ours for place in self.found[word]]
        moods = [each.mood(start, known=self.known, stars=self.review.stars) for each, start in places]
        return sum(moods) / len(moods)


@dataclass(frozen=True, slots=True)
class Clause:
    """A part of a sentence in one mood: what it names, and how many guests it speaks for."""

    needs: Sequence[frozenset[str]]
    fewest: int
    praises: bool
    damns: bool


@cache
def own() -> Own:
    """Our words, read once."""
    with (dish_names.WORDS / "support_stopwords.toml").open("rb") as file:
        read = tomllib.load(file)

    def stems(words: str) -> frozenset[str]:
        return frozenset(map(stem, words.split()))

    counts = {word: int(fewest) for fewest, words in read["counts"].items() for word in stems(words)}
    moods = {name: stems(words) for name, words in read["moods"].items()}
    return Own(
        counts=counts,
        praise=moods["praise"],
        complaint=moods["complaint"],
        divided=moods["divided"],
        free=stems(read["small"]).union(counts, *moods.values()),
        findings={name: stems(words) for part in ("aspects", "times") for name, words in read[part].items()},
        complaints={name: stems(words) for name, words in read["watch_outs"].items()},
    )


@lru_cache(maxsize=10_000)
def stem(word: str) -> str:
    """A word in small letters of ASCII without the commonest endings: what "noise" and "noisy" have in common."""
    word = anyascii(word).lower().removesuffix("'s")
    if len(word) > 3 and word.endswith("s") and not word.endswith("ss"):
        word = word[:-1]
    for ending, shortest in (("ing", 6), ("ed", 5), ("ly", 6)):
        if len(word) >= shortest and word.endswith(ending):
            word = word[: -len(ending)]
            break
    if len(word) > 3 and word[-1] in "eiy" and word[-2] not in "aeiou":
        word = word[:-1]
    return word[:-1] if len(word) > 3 and word[-1] == word[-2] else word


def voice(review: Opinion) -> Voice | None:
    """A review as it was heard; None where it is in no language that is read, for then it carries nothing."""
    lang = review_analysis.language(review)
    if not lang:
        return None
    ours, known = own(), cues(lang)
    heard: list[Heard] = []
    found: dict[str, list[tuple[Heard, int]]] = {}
    complains: set[str] = set()
    for text in map(str.strip, review_analysis.SENTENCE.findall(review.text[: review_analysis.MOST_READ])):
        if ELSEWHERE.search(text):
            continue
        spots = list(dish_names.find(text))
        words = dict(_words(text, known)) | {stem(word): spot.start for spot in spots for word in spot.name.split()}
        places = {
            name: match.start()
            for side in (known.aspects, known.times)
            for name, expression in side.items()
            if (match := expression.search(text))
        }
        if spots:
            places.setdefault("food", spots[0].start)
        complaints = {name: start for name in ours.complaints if (start := known.complaint(name, text)) is not None}
        starts = (*(spot.start for spot in spots), *places.values(), *complaints.values())
        each = Heard(text, words, frozenset(starts))
        heard.append(each)
        for name, start in places.items():
            for word in ours.findings[name]:
                found.setdefault(word, []).append((each, start))
        for name, start in complaints.items():
            if each.mood(start, known=known, stars=review.stars) <= sentiment.MOOD:
                complains |= ours.complaints[name]
    return Voice(review, known, heard, found, frozenset(complains))


def carried(sentence: str, cited: Sequence[Voice]) -> str | list[Voice]:
    """The voices that carry a sentence, or why they do not."""
    if not cited:
        return SILENT
    clauses = list(_clauses(sentence))
    if not any(needs for clause in clauses for needs in clause.needs):
        return SAYS_NOTHING
    carrying: list[Voice] = []
    for clause in clauses:
        pleased, displeased, all_of_it = [], [], []
        for needs in clause.needs:
            moods = [(voice, mood) for voice in cited if (mood := voice.mood(needs)) is not None]
            if not moods:
                return MORE
            good = [voice for voice, mood in moods if mood > sentiment.MOOD]
            bad = [voice for voice, mood in moods if mood < -sentiment.MOOD]
            if clause.praises != clause.damns and len(good if clause.praises else bad) <= len(
                bad if clause.praises else good
            ):
                return OTHER_MOOD
            pleased += good
            displeased += bad
            all_of_it += [voice for voice, _ in moods]
        if clause.praises and clause.damns and not (pleased and displeased):
            return OTHER_MOOD
        theirs = all_of_it if clause.praises == clause.damns else pleased if clause.praises else displeased
        if len({voice.review.id for voice in theirs}) < clause.fewest:
            return FEWER
        carrying += theirs
    ids = {voice.review.id for voice in carrying}
    return [voice for voice in cited if voice.review.id in ids]


def _clauses(sentence: str) -> Iterator[Clause]:
    """Its clauses; one that counts nobody speaks for those of the clause before it."""
    ours = own()
    fewest = 1
    for clause in TURN.split(sentence):
        parts = [frozenset(map(stem, WORD.findall(part))) for part in JOINT.split(clause)]
        words = frozenset().union(*parts)
        fewest = max((ours.counts[word] for word in words & ours.counts.keys()), default=fewest)
        mood = sentiment.by_words(clause)
        is_divided = bool(words & ours.divided)
        yield Clause(
            needs=[part - ours.free for part in parts if part - ours.free] or [frozenset()],
            fewest=fewest,
            praises=is_divided or bool(words & ours.praise) or mood >= STRONG,
            damns=is_divided or bool(words & ours.complaint) or mood <= -STRONG,
        )


def _words(text: str, known: Cues) -> Iterator[tuple[str, int]]:
    """The stems of a sentence that it does not deny, and where they begin."""
    denied, end = 0, 0
    for match in WORD.finditer(text):
        if denied and any(sign in ",;:" for sign in text[end : match.start()]):
            denied = 0
        end = match.end()
        if known.denial.fullmatch(match[0]):
            denied = DENIED
        elif denied:
            denied -= 1
        else:
            yield stem(match[0]), match.start()
