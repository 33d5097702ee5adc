"""What sentences speak of, by language: the regular expressions of words/, and the mood that they give."""

import re
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from typing import Any

from catalogue.insights import tone
from catalogue.insights.dishes import WORDS

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
    but: re.Pattern[str] | None
    good: re.Pattern[str] | None
    bad: re.Pattern[str] | None
    made_of_denial: frozenset[str]
    aspects: Mapping[str, re.Pattern[str]]
    watch_outs: Mapping[str, re.Pattern[str]]
    times: Mapping[str, re.Pattern[str]]

    def mood(self, sentence: str, *, stars: int) -> float:
        """Above 0 for a pleased sentence, below for a displeased one, about -1.4 to 1.4. 5 to 30 µs."""
        by_stars = tone.by_stars(stars)
        if stars <= BITTER and self.irony and self.irony.search(sentence):
            return by_stars - WORD
        if self.good is None or self.bad is None:
            return tone.mood(sentence, stars=stars)
        turn = 0
        for match in self.but.finditer(sentence) if self.but else ():
            turn = match.start()
        words = 0.0
        for pattern, sign, denied in ((self.good, 1.0, -1.0), (self.bad, -1.0, NOT_BAD)):
            for match in pattern.finditer(sentence):
                weight = 1.0 if not turn else BEHIND_BUT if match.start() >= turn else BEFORE_BUT
                words += weight * (denied if self._is_denied(sentence, match) else sign)
        return max(-1.0, min(1.0, WORD * words)) + by_stars

    def complains(self, name: str, sentence: str) -> bool:
        """Whether a sentence makes this complaint and does not deny it; some are made of a denial ("not worth")."""
        match = self.watch_outs[name].search(sentence)
        if not match or self._is_denied(sentence, match):
            return False
        inside = self.spaced and name not in self.made_of_denial
        return not (inside and self.denial.search(sentence, match.start() + 1, match.end()))

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
        but=perhaps("but"),
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
