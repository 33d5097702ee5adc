"""Spelling correction: an index of the words of names, searched with one edit."""

from collections.abc import Mapping
from dataclasses import dataclass
from itertools import chain
from string import ascii_lowercase

from django.db import connection

from catalogue.matching.scoring import fold
from catalogue.search.text import vocabulary
from catalogue.search.text.vocabulary import Vocabulary
from framework.cache import CachedValue

# Words of these lengths may contain one error; longer ones have too many candidates.
MIN_WORD_LENGTH = 5
MAX_WORD_LENGTH = 14
# Loading takes 0.3 s with 354,000 restaurants.
MAX_AGE_S = 900.0
# The names of the restaurants and landmarks that are best known.
MAX_NAMES = 20_000
MAX_CORRECTIONS = 5

NEIGHBORHOODS = """
SELECT r.market_id, r.neighborhood, count(*) FROM catalogue_restaurant AS r
WHERE r.neighborhood <> '' AND r.status NOT IN ('permanently_closed', 'moved') GROUP BY 1, 2
"""
NAMES = """
(SELECT name, NULL, 0 FROM catalogue_searchrow ORDER BY rank_reviews DESC, restaurant_id LIMIT %(names)s)
UNION ALL
(SELECT n.folded, CASE WHEN l.kind NOT IN ('city', 'hotel') THEN l.market_id END, l.prominence
    FROM catalogue_landmarkname AS n JOIN catalogue_landmark AS l ON l.id = n.landmark_id
    ORDER BY l.prominence DESC, n.id LIMIT %(names)s)
"""


@dataclass(frozen=True, slots=True)
class SpellingIndex:
    """The number of restaurants by (market, neighborhood), and the prefixes of all words of names."""

    neighborhoods: Mapping[tuple[str, str], int]
    # By folded name and market, as it is spelled.
    neighborhoods_by_name: Mapping[str, Mapping[str, str]]
    # Markets by the folded name of a landmark, without cities, and hotels, which are named after cities and saints:
    # "napoli" alone is none.
    landmarks: Mapping[str, frozenset[str]]
    # Names of neighborhoods and well-known landmarks, for misspelled ones.
    known_places: tuple[str, ...]
    prefixes: frozenset[str]
    words: frozenset[str]

    @classmethod
    def load(cls) -> "SpellingIndex":
        """Return the index, at most 15 minutes old. Two queries if it is not cached."""
        return _cache.get(max_age_s=MAX_AGE_S)

    @classmethod
    def read(cls) -> "SpellingIndex":
        with connection.cursor() as cursor:
            cursor.execute(NEIGHBORHOODS)
            neighborhoods = {(market, name): count for market, name, count in cursor.fetchall()}
            cursor.execute(NAMES, {"names": MAX_NAMES})
            rows = cursor.fetchall()
        names = [name for name, *_ in rows]
        landmarks: dict[str, set[str]] = {}
        for name, market, _ in rows:
            if market:
                landmarks.setdefault(vocabulary.fold(name), set()).add(market)
        well_known = (vocabulary.fold(name) for name, market, prominence in rows if market and prominence)
        cuisines = filter(str.isascii, Vocabulary.load().cuisines_by_term)
        shortest = MIN_WORD_LENGTH - 1
        words = {
            word for name in chain(names, (name for _, name in neighborhoods), cuisines) for word in fold(name).split()
        }
        prefixes = frozenset(word[:length] for word in words for length in range(shortest, len(word) + 1))
        by_name: dict[str, dict[str, str]] = {}
        for market, name in neighborhoods:
            for folded in (vocabulary.fold(name), fold(name)):
                by_name.setdefault(folded, {})[market] = name
        return cls(
            neighborhoods=neighborhoods,
            neighborhoods_by_name=by_name,
            landmarks={name: frozenset(markets) for name, markets in landmarks.items()},
            known_places=tuple(dict.fromkeys([*by_name, *well_known])),
            prefixes=prefixes,
            words=frozenset(words),
        )

    def has_word(self, word: str) -> bool:
        """Whether a name has this folded word."""
        return fold(word) in self.words

    def suggest_corrections(self, typed: str) -> list[str]:
        """Return texts that differ from a folded text by one edit in one word, whose words are known prefixes."""
        words = typed.split()
        found = (
            " ".join([*words[:index], candidate, *words[index + 1 :]])
            for index in reversed(range(len(words)))
            for candidate in list_edits(words[index])
            if candidate in self.prefixes
        )
        return list(dict.fromkeys(found))[:MAX_CORRECTIONS]


_cache = CachedValue(SpellingIndex.read)


def list_edits(word: str) -> list[str]:
    """Return the words at edit distance one: transpositions first, then replacements, deletions and insertions."""
    if not MIN_WORD_LENGTH <= len(word) <= MAX_WORD_LENGTH:
        return []
    splits = [(word[:index], word[index:]) for index in range(len(word) + 1)]
    transpositions = (head + tail[1] + tail[0] + tail[2:] for head, tail in splits if len(tail) > 1)
    replacements = (head + letter + tail[1:] for head, tail in splits if tail for letter in ascii_lowercase)
    deletions = (head + tail[1:] for head, tail in splits if tail)
    insertions = (head + letter + tail for head, tail in splits for letter in ascii_lowercase)
    edits = chain(transpositions, replacements, deletions, insertions)
    return [edit for edit in dict.fromkeys(edits) if edit != word]
