"""The aspect lexicon of each language (lexicon/*.toml): aspects, complaints, visit times, polarity and negation."""

import re
from bisect import bisect_right
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache

from catalogue.insights.analysis import sentiment
from catalogue.insights.analysis.dish_names import read_lexicon

ENGLISH = "en"
# The analyzed languages by ISO 639-1; the lower-case names are those of the files.
LANGUAGES = {
    ENGLISH: "English",
    "de": "German",
    "fr": "French",
    "es": "Spanish",
    "it": "Italian",
    "da": "Danish",
    "ja": "Japanese",
}
# Polarity of one positive or negative word, and its factors after and before a contrast ("but").
WORD_WEIGHT = 0.4
AFTER_CONTRAST, BEFORE_CONTRAST = 1.5, 0.5
# "Not bad" is less than praise.
NEGATED_NEGATIVE = 0.5
# Of more stars a sentence is positive unless its words are negative.
MAX_FORGIVING_STARS = 4
# With at most so many stars praise may be ironic.
MAX_IRONIC_STARS = 2
# With at most so many stars plain words complain, too: `low_star_watch_outs`.
MAX_LOW_STARS = 3
# In a language without spaces a negation follows within so many characters.
NEGATION_WINDOW = 8
IS_AMOUNT = re.compile(r"[$£€\d]")


def fold_case(text: str) -> str:
    """The text in lower case with the same offsets, for patterns that are case-sensitive because that is faster."""
    lowered = text.lower()
    return lowered if len(lowered) == len(text) else text


@dataclass(frozen=True, slots=True)
class AspectLexicon:
    """The regular expressions of one language. `positive` and `negative` are None in English, which VADER rates.

    `elsewhere`, `aspects`, both tables of complaints, `times` and `crowds` search a text after `fold_case`.
    """

    has_spaces: bool
    negation: re.Pattern[str]
    negation_before: re.Pattern[str]
    hedge: re.Pattern[str]
    irony: re.Pattern[str] | None
    elsewhere: re.Pattern[str] | None
    contrast: re.Pattern[str]
    clause_boundary: re.Pattern[str]
    positive: re.Pattern[str] | None
    negative: re.Pattern[str] | None
    negated_complaints: frozenset[str]
    aspects: Mapping[str, re.Pattern[str]]
    watch_outs: Mapping[str, re.Pattern[str]]
    low_star_watch_outs: Mapping[str, re.Pattern[str]]
    times: Mapping[str, re.Pattern[str]]
    crowds: Mapping[str, re.Pattern[str]]

    def polarity(self, sentence: str, *, stars: int) -> float:
        """The polarity of a sentence, about -1.4 to 1.4. 5 to 30 µs."""
        return self._text_polarity(sentence, stars=stars) + sentiment.star_polarity(stars)

    def clause_polarities(self, sentence: str, starts: Sequence[int], *, stars: int) -> list[float]:
        """The polarity of the mention at each of these offsets, in ascending order: that of its clause.

        A clause begins at a comma or contrast that has mentions before and after it. A neutral clause takes the
        polarity of the sentence: "The ramen was great, the service slow" against "Loved the ramen, gyoza and staff".
        """
        cuts: list[int] = []
        for match in self.clause_boundary.finditer(sentence):
            before = [start for start in starts if start < match.end()]
            last_cut = cuts[-1] if cuts else 0
            if len(before) < len(starts) and any(start >= last_cut for start in before):
                cuts.append(match.end())
        bounds = [0, *cuts, len(sentence)]
        by_clause: dict[int, float] = {}
        for clause in sorted({bisect_right(cuts, start) for start in starts}):
            by_clause[clause] = self._text_polarity(sentence[bounds[clause] : bounds[clause + 1]], stars=stars)
        whole = self._text_polarity(sentence, stars=stars) if cuts and not all(by_clause.values()) else 0.0
        by_stars = sentiment.star_polarity(stars)
        return [(by_clause[bisect_right(cuts, start)] or whole) + by_stars for start in starts]

    def _text_polarity(self, sentence: str, *, stars: int) -> float:
        if stars <= MAX_IRONIC_STARS and self.irony and self.irony.search(sentence):
            return -WORD_WEIGHT
        if self.positive is None or self.negative is None:
            return sentiment.text_polarity(sentence)
        contrast = 0
        for match in self.contrast.finditer(sentence):
            contrast = match.start()
        words = 0.0
        for pattern, value, negated_value in ((self.positive, 1.0, -1.0), (self.negative, -1.0, NEGATED_NEGATIVE)):
            for match in pattern.finditer(sentence):
                weight = 1.0 if not contrast else AFTER_CONTRAST if match.start() >= contrast else BEFORE_CONTRAST
                words += weight * (negated_value if self._is_negated(sentence, match) else value)
        return max(-1.0, min(1.0, WORD_WEIGHT * words))

    def find_feature(self, pattern: re.Pattern[str], sentence: str) -> int | None:
        """The offset of this feature in the sentence; None if there is none or it is negated."""
        match = pattern.search(sentence)
        return None if match is None or self._is_negated(sentence, match) else match.start()

    def find_complaint(self, name: str, sentence: str, *, stars: int) -> int | None:
        """The offset of this complaint in a sentence after `fold_case`; None if there is none or it is negated.

        `negated_complaints` contain a negation themselves ("not worth the price").
        """
        start = self._find_affirmed(self.watch_outs[name], name, sentence)
        if start is None and stars <= MAX_LOW_STARS and name in self.low_star_watch_outs:
            return self._find_plain(self.low_star_watch_outs[name], sentence)
        return start

    def _find_plain(self, pattern: re.Pattern[str], sentence: str) -> int | None:
        """The offset of a complaint that is negated neither before it nor before its last word ("never slow")."""
        for match in pattern.finditer(sentence):
            # Its first word may be a negation: "no soap".
            *words, _ = match[0][1:].rsplit(maxsplit=1) or [""]
            is_negated = self._is_negated(sentence, match) or (
                self.has_spaces and words and self.negation_before.search(f"{words[0]} ")
            )
            # "Nothing for 40 minutes": what is counted is not negated.
            if IS_AMOUNT.match(match[0]) or not is_negated:
                return match.start()
        return None

    def _find_affirmed(self, pattern: re.Pattern[str], name: str, sentence: str) -> int | None:
        may_hold_negation = not self.has_spaces or name in self.negated_complaints
        for match in pattern.finditer(sentence):
            is_negated = self._is_negated(sentence, match)
            if not is_negated and (
                may_hold_negation or not self.negation.search(sentence, match.start() + 1, match.end())
            ):
                return match.start()
        return None

    def is_complaint(self, sentence: str, start: int, polarity: float, *, stars: int) -> bool:
        """Whether the complaint at this offset is meant: its clause, up to a contrast, is not positive.

        `polarity` is that of `clause_polarities`. Four stars do not outweigh neutral words.
        """
        if polarity <= sentiment.POLARITY_THRESHOLD:
            return True
        # Who gives few stars complains after a comma, too: "The duck was excellent, the lamb oversalted".
        boundary = self.clause_boundary if stars <= MAX_LOW_STARS else self.contrast
        cuts = [0, *(match.start() for match in boundary.finditer(sentence)), len(sentence)]
        index = bisect_right(cuts, start) - 1
        words = self._text_polarity(sentence[cuts[index] : cuts[index + 1]], stars=stars)
        by_stars = sentiment.star_polarity(stars) if stars > MAX_FORGIVING_STARS else 0.0
        return words + by_stars <= sentiment.POLARITY_THRESHOLD / 2

    def find_crowds(self, folded: str) -> set[str]:
        """What a sentence after `fold_case` says of full and empty days, as "busy weekend"."""
        days = [day for day in ("weekend", "weekday") if self.crowds[day].search(folded)]
        if not days:
            return set()
        crowds = [how for how in ("busy", "calm") if self.find_feature(self.crowds[how], folded) is not None]
        # "Packed on Fridays, quiet on Mondays" does not say which is which to a program.
        return {f"{crowds[0]} {days[0]}"} if len(days) == len(crowds) == 1 else set()

    def only_praises(self, sentence: str, *, stars: int) -> bool:
        """Whether no part of a sentence can be negative: cheaper to tell than all complaints, in English."""
        if stars <= MAX_FORGIVING_STARS or self.positive is not None:
            return False
        return not (self.negation.search(sentence) or sentiment.has_negative_word(sentence))

    def is_about_another_place(self, sentence: str) -> bool:
        """Whether a sentence after `fold_case` speaks of another place, of a fear or of a wish."""
        return bool(self.elsewhere and self.elsewhere.search(sentence))

    def _is_negated(self, sentence: str, match: re.Match[str]) -> bool:
        if self.has_spaces:
            return bool(self.negation_before.search(sentence[: match.start()]))
        return bool(self.negation.search(sentence, match.end(), match.end() + NEGATION_WINDOW))


@cache
def load_lexicon(lang: str = ENGLISH) -> AspectLexicon:
    """Load the lexicon of one of LANGUAGES, once."""
    content = read_lexicon(LANGUAGES[lang].lower())
    has_spaces = content.get("has_spaces", True)
    boundary = r"\b" if has_spaces else ""

    def compile_words(words: str, flags: int = re.IGNORECASE) -> re.Pattern[str]:
        return re.compile(rf"{boundary}(?:{words})", flags)

    def compile_optional(name: str, flags: int = re.IGNORECASE) -> re.Pattern[str] | None:
        return compile_words(content[name], flags) if name in content else None

    def compile_table(name: str) -> dict[str, re.Pattern[str]]:
        return {key: compile_words(words, 0) for key, words in content[name].items()}

    negation = rf"\b(?:{content['negation']})\b" if has_spaces else content["negation"]
    return AspectLexicon(
        has_spaces=has_spaces,
        negation=re.compile(negation, re.IGNORECASE),
        negation_before=re.compile(rf"{negation}(?:\W+\w+){{0,2}}\W+$", re.IGNORECASE),
        hedge=compile_words(content["hedge"]),
        irony=compile_optional("irony"),
        elsewhere=compile_optional("elsewhere", 0),
        contrast=compile_words(f"(?:{content['contrast']}){boundary}"),
        clause_boundary=re.compile(rf"[,;:\u3001\uff0c]|{boundary}(?:{content['contrast']}){boundary}", re.IGNORECASE),
        positive=compile_optional("positive"),
        negative=compile_optional("negative"),
        negated_complaints=frozenset(content.get("negated_complaints", ())),
        aspects=compile_table("aspects"),
        watch_outs=compile_table("watch_outs"),
        # Without a boundary of words, because some begin with the sign of a currency.
        low_star_watch_outs={
            name: re.compile(rf"(?<!\w)(?:{words})" if has_spaces else words)
            for name, words in content["low_star_watch_outs"].items()
        },
        times=compile_table("times"),
        crowds=compile_table("crowds"),
    )


@dataclass(frozen=True, slots=True)
class Feature:
    """Something that a place has or is for: its kind, its usual share of reviews, and its words by language.

    The words search a text after `fold_case`, unless they are `case_sensitive`.
    """

    name: str
    kind: str
    rate: float
    case_sensitive: bool
    patterns: Mapping[str, re.Pattern[str]]


@cache
def load_features() -> tuple[Feature, ...]:
    """Load lexicon/features.toml, once."""
    return tuple(
        Feature(
            name,
            content["kind"],
            content["rate"],
            content.get("case_sensitive", False),
            {
                lang: re.compile(rf"\b(?:{content[lang]})" if load_lexicon(lang).has_spaces else content[lang])
                for lang in LANGUAGES
                if lang in content
            },
        )
        for name, content in read_lexicon("features").items()
    )


@cache
def common_english_words() -> frozenset[str]:
    """Words by which a text of unknown language is recognized as English."""
    return frozenset(read_lexicon("english")["common"].split())
