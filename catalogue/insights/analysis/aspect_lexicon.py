"""What sentences speak of, by language: the regular expressions of words/, and the mood that they give."""

import re
import tomllib
from bisect import bisect_right
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any

from catalogue.insights.analysis import sentiment
from catalogue.insights.analysis.dish_names import WORDS

ENGLISH = "en"
# The languages that are read, by ISO 639-1, as people and files call them.
READ = {
    ENGLISH: "English",
    "de": "German",
    "fr": "French",
    "es": "Spanish",
    "it": "Italian",
    "da": "Danish",
    "ja": "Japanese",
}
# What a word of praise or complaint counts, and what it does in the weightier half of a sentence with a "but". Who
# denies a complaint does not quite praise.
WORD = 0.4
BEHIND_BUT, BEFORE_BUT = 1.5, 0.5
NOT_BAD = 0.5
# With so many stars at most praise may mean its contrary.
BITTER = 2
# Signs behind a word within which a language without spaces denies it.
NEAR = 8


@dataclass(frozen=True, slots=True)
class Cues:
    """The expressions of one language; `good` and `bad` are None in English, whose mood is VADER's."""

    spaced: bool
    denial: re.Pattern[str]
    denied_before: re.Pattern[str]
    doubt: re.Pattern[str]
    irony: re.Pattern[str] | None
    but: re.Pattern[str]
    parts: re.Pattern[str]
    good: re.Pattern[str] | None
    bad: re.Pattern[str] | None
    made_of_denial: frozenset[str]
    aspects: Mapping[str, re.Pattern[str]]
    watch_outs: Mapping[str, re.Pattern[str]]
    times: Mapping[str, re.Pattern[str]]

    def mood(self, sentence: str, *, stars: int) -> float:
        """Above 0 for a pleased sentence, below for a displeased one, about -1.4 to 1.4. 5 to 30 µs."""
        return self._by_words(sentence, stars=stars) + sentiment.by_stars(stars)

    def moods(self, sentence: str, starts: Sequence[int], *, stars: int) -> list[float]:
        """The mood of each thing that begins at one of these places, lowest first: that of its part of the sentence.

        A part begins at a comma or a "but" behind which there is such a thing; one without a mood has that of the
        whole: "The ramen was great, the service slow" against "Loved the ramen, gyoza and staff".
        """
        cuts: list[int] = []
        for match in self.parts.finditer(sentence):
            before = [start for start in starts if start < match.end()]
            last = cuts[-1] if cuts else 0
            if len(before) < len(starts) and any(start >= last for start in before):
                cuts.append(match.end())
        by_stars = sentiment.by_stars(stars)
        whole = None
        moods = []
        known: dict[int, float] = {}
        for start in starts:
            place = bisect_right(cuts, start)
            if place not in known:
                part = sentence[cuts[place - 1] if place else 0 : cuts[place] if place < len(cuts) else len(sentence)]
                known[place] = self._by_words(part, stars=stars)
            words = known[place]
            if not words and cuts:
                whole = self._by_words(sentence, stars=stars) if whole is None else whole
                words = whole
            moods.append(words + by_stars)
        return moods

    def _by_words(self, sentence: str, *, stars: int) -> float:
        if stars <= BITTER and self.irony and self.irony.search(sentence):
            return -WORD
        if self.good is None or self.bad is None:
            return sentiment.by_words(sentence)
        turn = 0
        for match in self.but.finditer(sentence):
            turn = match.start()
        words = 0.0
        for pattern, sign, denied in ((self.good, 1.0, -1.0), (self.bad, -1.0, NOT_BAD)):
            for match in pattern.finditer(sentence):
                weight = 1.0 if not turn else BEHIND_BUT if match.start() >= turn else BEFORE_BUT
                words += weight * (denied if self._is_denied(sentence, match) else sign)
        return max(-1.0, min(1.0, WORD * words))

    def complaint(self, name: str, sentence: str) -> int | None:
        """Where a sentence makes this complaint, if it does not deny it; some are made of a denial ("not worth")."""
        match = self.watch_outs[name].search(sentence)
        if not match or self._is_denied(sentence, match):
            return None
        inside = self.spaced and name not in self.made_of_denial
        if inside and self.denial.search(sentence, match.start() + 1, match.end()):
            return None
        return match.start()

    def _is_denied(self, sentence: str, match: re.Match[str]) -> bool:
        if self.spaced:
            return bool(self.denied_before.search(sentence[: match.start()]))
        return bool(self.denial.search(sentence, match.end(), match.end() + NEAR))


@cache
def cues(lang: str = ENGLISH) -> Cues:
    """The expressions of one of READ, read once."""
    with (WORDS / f"{READ[lang].lower()}.toml").open("rb") as file:
        read: dict[str, Any] = tomllib.load(file)
    spaced = read.get("spaced", True)

    before = r"\b" if spaced else ""

    def begins(words: str) -> re.Pattern[str]:
        return re.compile(rf"\b(?:{words})" if spaced else words, re.IGNORECASE)

    def perhaps(part: str) -> re.Pattern[str] | None:
        return begins(read[part]) if part in read else None

    def compiled(part: str) -> dict[str, re.Pattern[str]]:
        return {name: begins(words) for name, words in read[part].items()}

    denial = rf"\b(?:{read['denial']})\b" if spaced else read["denial"]
    return Cues(
        spaced=spaced,
        denial=re.compile(denial, re.IGNORECASE),
        denied_before=re.compile(rf"{denial}(?:\W+\w+){{0,2}}\W+$", re.IGNORECASE),
        doubt=begins(read["doubt"]),
        irony=perhaps("irony"),
        but=begins(f"(?:{read['but']})\\b" if spaced else read["but"]),
        parts=re.compile(rf"[,;:\u3001\uff0c]|{before}(?:{read['but']}){before}", re.IGNORECASE),
        good=perhaps("good"),
        bad=perhaps("bad"),
        made_of_denial=frozenset(read.get("denied", ())),
        aspects=compiled("aspects"),
        watch_outs=compiled("watch_outs"),
        times=compiled("times"),
    )


@cache
def common() -> frozenset[str]:
    """Words by which a text is taken for English where nobody said its language."""
    with (WORDS / "english.toml").open("rb") as file:
        return frozenset(tomllib.load(file)["common"].split())
