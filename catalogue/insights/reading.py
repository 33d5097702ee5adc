"""Reading reviews: sentence by sentence where they are English, by stars and names of dishes where they are not."""

import re
import tomllib
import unicodedata
from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache

from anyascii import anyascii

from catalogue.insights import dishes, tone
from catalogue.insights.dishes import Spot
from catalogue.insights.provider import MOST_CITED, Claim, Opinion

# What goes on longer is no review of a dinner.
MOST_READ = 5_000
SENTENCE = re.compile(r"[^.!?\n]{1,400}[.!?]*")
# Addresses, markup, numbers to call and what speaks to machines: who writes such things writes no review, and is not
# read, neither by us nor by a model.
STRANGE = re.compile(
    r"https?:|www\.|\w\.(com|net|org|io|ru|cn|info|biz)\b|<[a-z/!|]|\{\{|\]\(|@\w|\d{7}"
    r"|\w ?[\[({] ?(dot|\.) ?[\])}] ?\w|\w \. ?(com|net|org|io|ru)\b|\bdot (com|net|org|io|ru)\b|\bh ?t ?t ?p s? ?:"
    r"|\+\d(?:[ ().\-/]{0,2}\d){7}|\(?\b0?\d{3}\)?[ .-]\d{3}[ .-]\d{4}\b|\b0x[0-9a-f]{16}"
    r"|```|<\||\[/?(inst|sys(tem)?)\]|\bon\w+ ?= ?[\"']|[\"']\w+[\"'] ?: ?[\"'\[{\d]"
    r"|\b(function|tool)_?(call|use|result)|(?=\S*\d)(?=\S*[A-Z])(?=\S*(?-i:[a-z]))[A-Za-z0-9+/]{32,}"
    r"|(?:\b\w[ ._*-]){6}",
    re.IGNORECASE,
)
# Orders to machines, in the languages in which they come most; letters of other scripts that look like ours are ours.
ORDERS = re.compile(
    r"\b(ignore|disregard|forget|override|bypass)\b.{0,40}\b(instruction|prompt|previous|above|rule|guideline)"
    r"|\b(system|assistant|developer|human|user) ?(:|message|prompt)|\bas an? (ai|language model)\b"
    r"|\b(you are now|you are an? (ai|assistant|bot|model)|your (system )?prompt|system prompt|new instructions?)\b"
    r"|\b(language model|chat ?gpt|gpt-?\d|llms?|chat ?bot|ai (model|assistant|agent|summar\w+)|summari[sz]er)\b"
    r"|\b(jailbreak|developer mode|do anything now|prompt injection)\b"
    r"|\bin (your|the) (summary|insight|output)\b|\b(write|output|print|repeat|respond|reply|answer)\b.{0,20}"
    r"\b(the following|verbatim|word for word|in json|only with|with only|nothing but)\b"
    r"|\b(i am|i'm|as) (the|an?) (owner|manager|admin\w*|operator|developer)\b.{0,60}"
    r"\b(you (to|must|should|will)|say|write)\b"
    r"|\b(ignorier|vergiss|missacht)\w*\b.{0,40}\b(anweisung|instruktion|regel|vorherig)"
    r"|\b(ignora|ignore[zs]?|olvida|oublie[zs]?|dimentica|esqueca|desconsidere|negeer|vergeet|ignorer|glem|zignoruj|ignoruj\w*)"
    r"\b.{0,40}\b(instru[ckz]|istruzion|indicac|consigne|anterior|precedent|regel|tidligere|eerdere|vorige|poprzedni|predydushch)"
    r"|\b(onceki|yukaridaki) (tum )?(talimat|komut)"
    r"|忽略.{0,12}(指令|指示|规则|提示)|無視.{0,6}(指示|命令)|(指示|命令).{0,4}無視|지시.{0,8}무시|무시.{0,8}지시"
    r"|تجاهل.{0,20}(التعليمات|الأوامر)|निर्देश.{0,20}(अनदेखा|नज़रअंदाज़)|התעלם.{0,20}הוראות",
    re.IGNORECASE,
)
# Characters that nobody sees: of control and format, and those that are none.
UNSEEN = frozenset({"Cc", "Cf", "Cs", "Co", "Cn"})
# Of a review without a language so many common words make it English.
FEWEST_COMMON = 2


@dataclass(slots=True)
class Tally:
    """Who mentions a thing, newest first, and with which mood."""

    moods: dict[str, float] = field(default_factory=lambda: defaultdict(float))

    def add(self, review: Opinion, mood: float) -> None:
        """Count a mention; several in one review are one, in their common mood."""
        self.moods[review.id] += mood

    def claim(self, name: str) -> Claim:
        """How many mention it and how many of them are pleased."""
        pleased = sum(mood > tone.MOOD for mood in self.moods.values())
        return Claim(name, mentions=len(self.moods), pleased=pleased, citations=tuple(self.moods)[:MOST_CITED])


@dataclass(slots=True)
class Findings:
    """What a set of reviews mentions; `read` of them are English ones with words."""

    read: int = 0
    dishes: dict[str, Tally] = field(default_factory=lambda: defaultdict(Tally))
    spellings: dict[str, Counter[str]] = field(default_factory=lambda: defaultdict(Counter))
    aspects: dict[str, Tally] = field(default_factory=lambda: defaultdict(Tally))
    watch_outs: dict[str, Tally] = field(default_factory=lambda: defaultdict(Tally))
    times: dict[str, Tally] = field(default_factory=lambda: defaultdict(Tally))


@dataclass(frozen=True, slots=True)
class Cues:
    """The regular expressions of words/english.toml."""

    common: frozenset[str]
    denial: re.Pattern[str]
    denied_before: re.Pattern[str]
    doubt: re.Pattern[str]
    aspects: Mapping[str, re.Pattern[str]]
    watch_outs: Mapping[str, re.Pattern[str]]
    times: Mapping[str, re.Pattern[str]]


@cache
def cues() -> Cues:
    """What English sentences speak of, read once."""
    with (dishes.WORDS / "english.toml").open("rb") as file:
        read = tomllib.load(file)

    def begins(words: str) -> re.Pattern[str]:
        return re.compile(rf"\b(?:{words})", re.IGNORECASE)

    def compiled(part: str) -> dict[str, re.Pattern[str]]:
        return {name: begins(words) for name, words in read[part].items()}

    return Cues(
        common=frozenset(read["common"].split()),
        denial=re.compile(rf"\b(?:{read['denial']})\b", re.IGNORECASE),
        denied_before=re.compile(rf"\b(?:{read['denial']})(?:\W+\w+){{0,2}}\W+$", re.IGNORECASE),
        doubt=begins(read["doubt"]),
        aspects=compiled("aspects"),
        watch_outs=compiled("watch_outs"),
        times=compiled("times"),
    )


def read(reviews: Sequence[Opinion]) -> Findings:
    """Read them all, in their order. A quarter of a millisecond for an English review of three sentences."""
    found = Findings()
    for review in reviews:
        if is_strange(review.text):
            continue
        english = is_english(review)
        found.read += english
        for sentence in map(str.strip, SENTENCE.findall(review.text[:MOST_READ])):
            if english:
                _note(found, review, sentence)
            else:
                spots = list(dishes.find(sentence))
                _note_dishes(found, review, sentence, spots, mood=tone.by_stars(review.stars))
    return found


def plain(text: str) -> str:
    """The text without tricks: each letter in its plain form, nothing that cannot be seen, white space as one space.

    1 µs where it is ASCII.
    """
    text = " ".join(text.split())
    if text.isascii() and text.isprintable():
        return text
    text = unicodedata.normalize("NFKC", text)
    return " ".join("".join(each for each in text if unicodedata.category(each) not in UNSEEN).split())


def is_strange(text: str) -> bool:
    """Whether no guest writes so: links, markup, numbers to call, orders to machines."""
    text = plain(text)
    if STRANGE.search(text) or ORDERS.search(text):
        return True
    return not text.isascii() and bool(ORDERS.search(anyascii(text)))


def is_english(review: Opinion) -> bool:
    """Whether its words can be read."""
    if review.lang or not review.text:
        return review.lang.startswith("en") and bool(review.text)
    words = set(review.text[:MOST_READ].lower().split())
    return len(words & cues().common) >= FEWEST_COMMON


def _note_dishes(found: Findings, review: Opinion, sentence: str, spots: Sequence[Spot], *, mood: float) -> None:
    for spot in spots:
        found.dishes[spot.key].add(review, mood)
        found.spellings[spot.key][sentence[spot.start : spot.end]] += 1


def _note(found: Findings, review: Opinion, sentence: str) -> None:
    known = cues()
    spots = list(dishes.find(sentence))
    aspects = [name for name, words in known.aspects.items() if words.search(sentence)]
    if spots and "food" not in aspects:
        aspects.append("food")
    times = [name for name, words in known.times.items() if words.search(sentence)]
    watch_outs = [name for name, words in known.watch_outs.items() if _is_said(words, sentence)]
    if not (aspects or times or watch_outs):
        return
    # The name of a dish says nothing of how it was: devilled, sour, burnt.
    plain = sentence
    for spot in reversed(spots):
        plain = f"{plain[: spot.start]}dish{plain[spot.end :]}"
    mood = tone.mood(plain, stars=review.stars)
    _note_dishes(found, review, sentence, spots, mood=mood)
    for name in aspects:
        found.aspects[name].add(review, mood)
    if mood <= tone.MOOD:
        for name in watch_outs:
            found.watch_outs[name].add(review, mood)
    elif not (known.denial.search(sentence) or known.doubt.search(sentence)):
        for name in times:
            found.times[name].add(review, mood)


def _is_said(words: re.Pattern[str], sentence: str) -> bool:
    """Whether a sentence has the words and does not deny them; words that begin with a denial ("not worth") may."""
    match, known = words.search(sentence), cues()
    return bool(
        match
        and not known.denied_before.search(sentence[: match.start()])
        and not known.denial.search(sentence, match.start() + 1, match.end())
    )
