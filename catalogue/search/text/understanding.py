"""Understand the words of `q`: what they ask for as parameters of the search, and the words to look for in text.

The words are matched with lists (catalogue/data/query_words.toml) and with names of the catalogue, the longest match
first. No model is involved, and the answer says what each word became.
"""

import datetime as dt
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache
from itertools import chain
from pathlib import Path
from typing import Any

import catalogue
from catalogue.models.restaurants import KINDS
from catalogue.search.geocoding.world import WorldPlace, find_cities, find_places
from catalogue.search.query import LocalMoment, Query, Sort
from catalogue.search.text.spell_correction import SpellingIndex
from catalogue.search.text.vocabulary import FIRST_IDEOGRAPH, MarketArea, Vocabulary, fold
from framework.data_files import read_toml
from framework.errors import InvalidRequest

WORDS = Path(catalogue.__file__).parent / "data" / "query_words.toml"
MAX_PHRASE_WORDS = 6
# They begin names too: "La Bodega".
ARTICLES = frozenset(["la", "le", "les", "el", "il", "lo", "los", "las", "da", "der", "die", "das", "den", "det"])
PLURALS = (("ies", "y"), ("ches", "ch"), ("shes", "sh"))
MIN_FUZZY_LENGTH = 5
MIN_CITY_LENGTH = 4
# Comparing the words of a longer text with all known words takes too long.
MAX_FUZZY_WORDS = 6
# Shorter words may have one edit: a letter too much, too little, wrong, or in the place of its neighbor.
MIN_TWO_EDITS_LENGTH = 8
MIDDAY, DINNER = dt.time(12, 30), dt.time(19, 30)
# "22:30", "10 pm", "21h", "kl. 20", "20 uhr", with the words before it.
CLOCK = re.compile(
    r"\b(?:open |until |till |at |from |um |kl\.? ?|a las |alle |à |bis )*"
    r"(?P<hour>[01]?\d|2[0-3])(?:[:.h](?P<minute>[0-5]\d)| ?(?P<unit>am|pm|uhr|h)\b)(?: uhr)?",
    re.IGNORECASE,
)
# A restaurant that is open "until 2 am" is open shortly before it.
UNTIL = re.compile(r"until|till|bis", re.IGNORECASE)
SHORTLY_BEFORE = dt.timedelta(minutes=15)


@dataclass(frozen=True, slots=True)
class Part:
    """Words of `q`, and the parameter and value that they became; without a parameter they were left out.

    The parameter `q` means that they are looked for as text.
    """

    words: str
    parameter: str | None = None
    value: Any = None

    def to_dict(self) -> dict[str, Any]:
        values = self.value if isinstance(self.value, list | tuple) else [] if self.value is None else [self.value]
        return {"words": self.words, "parameter": self.parameter, "value": ",".join(map(str, values)) or None}


@dataclass(frozen=True, slots=True)
class Term:
    """What each hit has: the words in its text, or one of the cuisines, or one of the tags."""

    text: str
    cuisines: tuple[str, ...] = ()
    tags: tuple[str, ...] = ()
    # Whether the words are the name of a cuisine, a diet, a kind of place or a neighborhood.
    is_named: bool = False


@dataclass(frozen=True, slots=True)
class Understanding:
    """A query with what its `q` asks for as parameters; its `q` are the words of all terms, None if there are none."""

    query: Query
    parts: tuple[Part, ...] = ()
    terms: tuple[Term, ...] = ()


@dataclass(frozen=True, slots=True)
class _Words:
    """The lists of query_words.toml by folded phrase."""

    meanings: Mapping[str, tuple[str, Any]]
    ignored: frozenset[str]
    days: Mapping[str, str]
    meals: Mapping[str, str]
    meal_times: Mapping[str, dt.time]
    before_area: frozenset[str]
    before_place: frozenset[str]
    here: frozenset[str]
    ideographs: tuple[str, ...]

    @classmethod
    def read(cls) -> "_Words":
        data = read_toml(WORDS)
        meanings: dict[str, tuple[str, Any]] = {kind.replace("_", " "): ("kind", kind) for kind in KINDS[1:]}
        for meaning in data["meaning"]:
            value: Any = tuple(meaning["value"]) if isinstance(meaning["value"], list) else meaning["value"]
            if meaning["parameter"] == "open" and value != "now":
                value = dt.time.fromisoformat(value)
            meanings |= {fold(word): (meaning["parameter"], value) for word in meaning["words"]}
        days = {fold(word): day for day, words in data["days"].items() for word in words}
        meals = {fold(word): meal for meal, content in data["meals"].items() for word in content["words"]}
        meal_times = {meal: dt.time.fromisoformat(content["at"]) for meal, content in data["meals"].items()}
        ignored = frozenset(fold(word) for words in data["ignored"].values() for word in words)
        area, place = (frozenset(map(fold, data["before_place"][name])) for name in ("area", "any"))
        here = frozenset(map(fold, data["here"]["words"]))
        phrases = {*meanings, *days, *meals, *ignored, *here}
        return cls(
            meanings=meanings,
            ignored=ignored,
            days=days,
            meals=meals,
            meal_times=meal_times,
            before_area=area,
            before_place=place,
            here=here,
            ideographs=tuple(phrase for phrase in phrases if phrase[:1] >= FIRST_IDEOGRAPH),
        )


@cache
def _load_words() -> _Words:
    return _Words.read()


def is_here(text: str) -> bool:
    """Whether only the caller's device knows the place: "near me", "my hotel"."""
    return fold(text) in _load_words().here


def build_here_message(text: str) -> str:
    """Return the error message for a place that only the caller's device knows."""
    return f"Only your device knows where `{text}` is: give a point as `ll`, latitude,longitude, or a place as `near`."


def without_article(text: str) -> str | None:
    """Return the folded text without its first word if that is an article; otherwise None."""
    first, _, rest = fold(text).partition(" ")
    return rest if rest and (first in ARTICLES or first == "the") else None


def understand(query: Query, vocabulary: Vocabulary) -> Understanding:
    """Return the query with what its `q` asks for as parameters.

    Explicit parameters win. A text in which nothing is understood is searched as it is. No query if the spelling index
    is cached, which has the neighborhoods. Raises InvalidRequest for "near me" without a place.
    """
    return _Parser(query, vocabulary).parse() if query.q else Understanding(query)


def read_literally(query: Query) -> Understanding:
    """Return a query whose `q` is looked for as text."""
    words = str(query.q)
    return Understanding(query, (Part(words, "q", words),), (Term(words),))


class _Parser:
    """One pass over the words of `q`, which takes the longest phrase that means something at each position."""

    def __init__(self, query: Query, vocabulary: Vocabulary) -> None:
        self.query, self.vocabulary, self.words = query, vocabulary, _load_words()
        self.index = SpellingIndex.load()
        self.parts: list[Part] = []
        self.terms: list[Term] = []
        self.changes: dict[str, Any] = {}
        self.day: str | None = None
        self.at: dt.time | None = None
        text = CLOCK.sub(self._take_clock_time, str(query.q))
        known = (*vocabulary.cuisines_by_term, *vocabulary.markets_by_name, *self.index.landmarks)
        self.tokens = _split_ideographs(fold(text), [*known, *self.words.ideographs]).split()
        self.has_place = bool(query.near or query.ll or query.bbox)
        # It tells apart the neighborhoods of one name that come before it.
        self.named_market = query.market or self._find_market()

    def parse(self) -> Understanding:
        position = 0
        text: list[str] = []
        while position < len(self.tokens):
            before = len(self.parts), len(self.terms)
            length = self._take_meaning(position, is_after_text=bool(text))
            if length:
                self._add_text(text, *before)
                text = []
            else:
                text.append(self.tokens[position])
            position += length or 1
        self._add_text(text, len(self.parts), len(self.terms))
        self._add_moment()
        self._drop_moment_without_zone()
        if not self.changes and not self.terms and not self._has_filters():
            return read_literally(self.query)
        words = " ".join(term.text for term in self.terms) or None
        return Understanding(replace(self.query, q=words, **self.changes), tuple(self.parts), tuple(self.terms))

    def _drop_moment_without_zone(self) -> None:
        """Leave out a time of day where no place says on whose clock it is: it must not refuse the other words."""
        moment = self.changes.get("open")
        query, changes = self.query, self.changes
        has_zone = bool(query.near or query.ll or query.bbox or query.market or changes.keys() & {"near", "market"})
        if moment not in (None, "now") and not has_zone and query.open is None:
            del changes["open"]
            self.parts = [Part(part.words) if part.parameter == "open" else part for part in self.parts]

    def _has_filters(self) -> bool:
        """Whether the query narrows the search without its words."""
        given = self.query
        return bool(self.has_place or given.market or given.neighborhood or given.cuisine or given.tags or given.kind)

    def _find_market(self) -> str | None:
        if self.has_place:
            return None
        names = self.vocabulary.markets_by_name
        for position in range(len(self.tokens)):
            for length, phrase in self._phrases(position):
                if phrase in names and self._is_place(phrase, position, length):
                    return names[phrase]
        return None

    def _is_place(self, phrase: str, position: int, length: int) -> bool:
        """Whether the phrase can name a place here.

        A market whose name is a common word ("Nice", "Of") needs evidence: "in nice", "nice france", or the end of a
        text after a word that describes what is wanted ("pizza nice", but not "somewhere nice").
        """
        words, market = self.words, self.vocabulary.markets_by_name.get(phrase)
        if market is None or not any(
            phrase in each for each in (words.ignored, words.meanings, words.days, words.meals)
        ):
            return True
        before, after = self.tokens[:position], position + length
        last = before[-1] if before else ""
        if last in words.before_place - words.ignored or last in words.before_area - words.ignored:
            return True
        if after == len(self.tokens):
            return last not in words.ignored or last in words.before_area
        country = self.vocabulary.market(market).country
        return any(
            place.kind == "country" and place.country == country
            for _, name in self._phrases(after)
            for place in find_places(name)
        )

    def _phrases(self, position: int) -> Iterator[tuple[int, str]]:
        for length in range(min(MAX_PHRASE_WORDS, len(self.tokens) - position), 0, -1):
            yield length, " ".join(self.tokens[position : position + length])

    def _take_meaning(self, position: int, *, is_after_text: bool) -> int:
        """Take the phrase that begins here; return its number of words, 0 if nothing is understood."""
        for length, phrase in self._phrases(position):
            if phrase in self.words.here:
                # "In der Nähe" may go on.
                taken = self._take_place(position + length) if phrase in self.words.before_place else 0
                if not taken:
                    self._take_here(phrase)
                return length + taken
            is_place = self._is_place(phrase, position, length)
            if (is_place and (self._take_area(phrase) or self._take_landmark(phrase))) or self._take_word(phrase):
                return length
            if phrase in self.words.before_place and (taken := self._take_place(position + length)):
                return length + taken
            if phrase in self.words.before_area and (taken := self._take_area_after(position + length)):
                return length + taken
            if phrase in self.words.ignored or phrase in self.words.before_place:
                # "Bread and Butter" and "La Bodega" are names.
                if (is_after_text or phrase in ARTICLES) and self._is_text(position + length):
                    return 0
                self.parts.append(Part(phrase))
                return length
        # They are looked up last, because a process reads them when it needs them.
        for length, phrase in self._phrases(position):
            if self._take_city(phrase):
                return length
        return self._take_misspelled(position)

    def _is_text(self, position: int) -> bool:
        """Whether nothing is understood at this position."""
        if position >= len(self.tokens):
            return False
        words, names = self.words, self.vocabulary
        known = (words.meanings, words.ignored, words.meals, words.days, names.cuisines_by_term, names.markets_by_name)
        phrases = [phrase for _, phrase in self._phrases(position)]
        return not any(phrase in each for phrase in phrases for each in (*known, self.index.neighborhoods_by_name))

    def _take_here(self, phrase: str) -> None:
        if not self.has_place:
            raise InvalidRequest(build_here_message(phrase), param="q")
        self.parts.append(Part(phrase))

    def _take_area(self, phrase: str, *, typed: str | None = None) -> bool:
        """Take the name of a market or of a neighborhood of one market."""
        market = self.vocabulary.markets_by_name.get(phrase)
        if market and self.query.market in (None, market) and not self.has_place:
            self._change("market", market, phrase)
            return True
        found = self.index.neighborhoods_by_name.get(phrase, {})
        if known := self.named_market:
            found = {known: found[known]} if known in found else {}
        if len(found) != 1 or self.query.neighborhood or self.has_place:
            return False
        ((area, name),) = found.items()
        # As words of the text: restaurants of unknown neighborhood have it in their name.
        self._add_term(Term(phrase, is_named=True), "neighborhood", name, words=typed)
        if not known:
            self.changes["market"] = area
        return True

    def _take_landmark(self, phrase: str, *, typed: str | None = None) -> bool:
        """Take the name of a landmark that stands among other words: alone it is looked for as a name."""
        markets = self.index.landmarks.get(phrase, frozenset())
        if self.named_market:
            markets &= {self.named_market}
        is_taken = len(phrase.split()) == len(self.tokens) or self.has_place or "near" in self.changes
        if not markets or is_taken or self._has_shorter_name(phrase):
            return False
        self._change("near", phrase, typed or phrase)
        return True

    def _has_shorter_name(self, phrase: str) -> bool:
        """Whether a neighborhood has this name without its article, or a place has it without the city at its end."""
        stated, places = self.index.neighborhoods_by_name, self.index.landmarks
        words = phrase.split()
        splits = ((" ".join(words[:end]), " ".join(words[end:])) for end in range(1, len(words)))
        return without_article(phrase) in stated or any(
            city in self.vocabulary.markets_by_name and (name in stated or name in places) for name, city in splits
        )

    def _take_city(self, phrase: str) -> bool:
        """Take the name of a city of the world that lies within a market and stands among other words: Brooklyn."""
        if len(phrase) < MIN_CITY_LENGTH or len(phrase.split()) == len(self.tokens) or self.has_place:
            return False
        located = (self._find_area(place) for place in find_cities(phrase))
        areas = {area.slug for area in located if area}
        if not areas or (self.named_market and self.named_market not in areas) or "near" in self.changes:
            return False
        self._change("near", phrase, phrase)
        return True

    def _find_area(self, place: WorldPlace) -> MarketArea | None:
        return self.vocabulary.containing_market(place.location) if place.location else None

    def _take_area_after(self, position: int) -> int:
        for length, phrase in self._phrases(position):
            if self._is_place(phrase, position, length) and self._take_area(phrase):
                return length
        return 0

    def _take_place(self, position: int) -> int:
        """Take the words after "near" as a place, up to the next that mean something else; return their number."""
        start = position
        while start < len(self.tokens):
            for length, phrase in self._phrases(start):
                if phrase in self.words.here:
                    self._take_here(phrase)
                    return start + length - position
                is_place = self._is_place(phrase, start, length)
                if is_place and (self._take_area(phrase) or self._take_landmark(phrase)):
                    return start + length - position
            if self.tokens[start] not in self.words.ignored:
                break
            start += 1
        end = start
        while end < len(self.tokens) and not self._ends_place(end):
            end += 1
        words = " ".join(self.tokens[start:end])
        if not words or self.has_place:
            return 0
        self._change("near", words, words)
        return end - position

    def _ends_place(self, position: int) -> bool:
        words = self.words
        meanings = (words.meanings, words.days, words.meals, words.before_place, self.vocabulary.markets_by_name)
        return any(phrase in meaning for _, phrase in self._phrases(position) for meaning in meanings)

    def _take_word(self, phrase: str, *, typed: str | None = None) -> bool:
        """Take a word of the lists, or the name of a diet, an attribute or a cuisine."""
        words, typed = self.words, typed or phrase
        if phrase in words.days:
            self.day = words.days[phrase]
            self.parts.append(Part(typed, "open", self.day))
        elif phrase in words.meals:
            self._take_meal(phrase, typed)
        elif phrase in words.meanings:
            parameter, value = words.meanings[phrase]
            self._change(parameter, value, typed)
        elif diet := self.vocabulary.diets_by_term.get(phrase):
            self._change("diet", diet, typed)
        elif attribute := self.vocabulary.attributes_by_term.get(phrase):
            self._change("attributes", attribute, typed)
        elif cuisines := self._cuisines(phrase):
            self._add_cuisines(cuisines, typed)
        else:
            return False
        return True

    def _cuisines(self, phrase: str) -> frozenset[str] | None:
        """The cuisines of this name, in the singular or in the English plural."""
        singular = next((phrase.removesuffix(end) + to for end, to in PLURALS if phrase.endswith(end)), phrase)
        known = self.vocabulary.cuisines_by_term
        return known.get(phrase) or known.get(singular) or known.get(phrase.removesuffix("s"))

    def _take_meal(self, phrase: str, typed: str) -> None:
        meal = self.words.meals[phrase]
        self.at = self.at or self.words.meal_times[meal]
        if meal in self.vocabulary.cuisines:
            self._add_cuisines(frozenset([meal]), typed)
        else:
            self.parts.append(Part(typed))

    def _take_misspelled(self, position: int) -> int:
        """Take a phrase that differs by a letter or two from one that means something; return its number of words.

        A text whose words all stand in names is not misspelled.
        """
        if len(self.tokens) > MAX_FUZZY_WORDS:
            return 0
        # Most searches do without it, and web processes start faster.
        from rapidfuzz import process
        from rapidfuzz.distance import OSA

        known = self.vocabulary
        words = (self.words.meanings, self.words.meals, self.words.days, self.words.ignored)
        candidates = [
            *known.markets_by_name,
            *known.cuisines_by_term,
            *known.diets_by_term,
            *chain(*words),
            *self.index.known_places,
        ]
        for length, typed in self._phrases(position):
            if len(typed) < MIN_FUZZY_LENGTH or all(map(self.index.has_word, typed.split())):
                continue
            found = process.extractOne(
                typed, candidates, scorer=OSA.distance, score_cutoff=1 if len(typed) < MIN_TWO_EDITS_LENGTH else 2
            )
            market = known.markets_by_name.get(found[0]) if found else None
            # "Date night" is not "late night".
            if (
                not found
                or found[0][0] != typed[0]
                or (market and (self.query.market not in (None, market) or self.has_place))
            ):
                continue
            if market:
                self._change("market", market, typed)
            elif found[0] in self.words.ignored:
                self.parts.append(Part(typed))
            elif not (
                self._take_word(found[0], typed=typed)
                or self._take_area(found[0], typed=typed)
                or self._take_landmark(found[0], typed=typed)
            ):
                continue
            return length
        return 0

    def _take_clock_time(self, match: re.Match[str]) -> str:
        hour, minute = int(match["hour"]), int(match["minute"] or 0)
        unit = (match["unit"] or "").lower()
        if unit in ("am", "pm"):
            hour = hour % 12 + (12 if unit == "pm" else 0)
        at = dt.datetime.combine(dt.date.min + dt.timedelta(days=1), dt.time(hour % 24, minute))
        if UNTIL.search(match[0]):
            at -= SHORTLY_BEFORE
        self.at = at.time()
        self._change("open", self.at, match[0].strip())
        return " "

    def _change(self, parameter: str, value: Any, words: str) -> None:
        """Set a parameter, unless the query has it."""
        query, changes = self.query, self.changes
        if parameter in ("diet", "kind"):
            slug = value.replace("_", "-")
            slugs = self.vocabulary.with_narrower([slug]) if slug in self.vocabulary.cuisines else ()
            self._add_term(Term(words, slugs, (f"{parameter}_{value}",), is_named=True), parameter, value)
            return
        if parameter == "attributes":
            changes["attributes"] = tuple(dict.fromkeys((*changes.get("attributes", query.attributes), value)))
        elif parameter in ("price", "price_max"):
            if not query.price and query.price_max is None and not {"price", "price_max"} & changes.keys():
                changes[parameter] = value
        elif parameter == "open":
            if query.open is None and (value != "now" or "open" not in changes):
                changes["open"] = value
            value = value if value == "now" else f"{value:%H:%M}"
        elif parameter == "open_for":
            if query.open is None and query.open_for is None:
                changes |= {"open": "now", "open_for": value}
        elif parameter == "sort":
            if query.sort is Sort.BEST:
                changes["sort"] = Sort(value)
        elif getattr(query, parameter) is None:
            changes[parameter] = value
        self.parts.append(Part(words, parameter, value))

    def _add_cuisines(self, cuisines: frozenset[str], words: str) -> None:
        term = Term(words, self.vocabulary.with_narrower(cuisines), is_named=True)
        self._add_term(term, "cuisine", sorted(cuisines))

    def _add_term(self, term: Term, parameter: str, value: Any, *, words: str | None = None) -> None:
        self.terms.append(term)
        self.parts.append(Part(words or term.text, parameter, value))

    def _add_text(self, tokens: Sequence[str], part: int, term: int) -> None:
        """Insert words that mean nothing else before these indexes."""
        if tokens:
            words = " ".join(tokens)
            self.parts.insert(part, Part(words, "q", words))
            self.terms.insert(term, Term(words))

    def _add_moment(self) -> None:
        """Set `open` to a day with the hour of its meal. With another moment, "open" alone does not mean now."""
        if self.day and self.query.open is None:
            at = self.at or (DINNER if self.day in ("today", "tonight") else MIDDAY)
            self.changes["open"] = LocalMoment(self.day, at)
        if self.changes.get("open") != "now":
            self.parts = [Part(part.words) if part.value == "now" else part for part in self.parts]


def _split_ideographs(text: str, phrases: Iterable[str]) -> str:
    """Put spaces around the known phrases of texts without spaces, the longest first."""
    if not any(letter >= FIRST_IDEOGRAPH for letter in text):
        return text
    known = {phrase for phrase in phrases if phrase[:1] >= FIRST_IDEOGRAPH}
    pattern = "|".join(re.escape(phrase) for phrase in sorted(known, key=len, reverse=True))
    return re.sub(pattern, r" \g<0> ", text)
