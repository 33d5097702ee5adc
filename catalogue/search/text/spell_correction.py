"""What this process knows of the words of names: neighborhoods, and beginnings that tell a slip of the hand."""

from collections.abc import Mapping
from dataclasses import dataclass
from itertools import chain
from string import ascii_lowercase

from django.db import connection

from catalogue.matching.scoring import fold
from catalogue.search.text.vocabulary import Names
from framework.cache import Lately

# One letter may be wrong in a word of so many letters; longer ones have too many spellings.
FEWEST_LETTERS = 5
MOST_LETTERS = 14
# Reading them takes 0.3 s at 354,000 restaurants.
REMEMBERED_S = 900.0
# Of the names of restaurants, those of the best known.
KNOWN = 20_000
MOST_CORRECTIONS = 5

NEIGHBORHOODS = """
SELECT r.market_id, r.neighborhood, count(*) FROM catalogue_restaurant AS r
WHERE r.neighborhood <> '' AND r.status NOT IN ('permanently_closed', 'moved') GROUP BY 1, 2
"""
NAMES = """
(SELECT name FROM catalogue_searchrow ORDER BY rank_reviews DESC, restaurant_id LIMIT %(known)s)
UNION ALL
(SELECT n.folded FROM catalogue_landmarkname AS n JOIN catalogue_landmark AS l ON l.id = n.landmark_id
    ORDER BY l.prominence DESC, n.id LIMIT %(known)s)
"""


@dataclass(frozen=True, slots=True)
class Words:
    """Neighborhoods as (market, name) with their number of restaurants, and the beginnings of all words of names."""

    neighborhoods: Mapping[tuple[str, str], int]
    beginnings: frozenset[str]

    @classmethod
    def load(cls) -> "Words":
        """As they were at most a quarter of an hour ago; two queries, where this process has none so young."""
        return _lately.not_older(REMEMBERED_S)

    @classmethod
    def read(cls) -> "Words":
        """As they are. Two queries."""
        with connection.cursor() as cursor:
            cursor.execute(NEIGHBORHOODS)
            neighborhoods = {(market, name): count for market, name, count in cursor.fetchall()}
            cursor.execute(NAMES, {"known": KNOWN})
            names = [name for (name,) in cursor.fetchall()]
        said = chain(names, (name for _, name in neighborhoods), filter(str.isascii, Names.load().called))
        words = {word for name in said for word in fold(name).split() if len(word) >= FEWEST_LETTERS - 1}
        return cls(
            neighborhoods=neighborhoods,
            beginnings=frozenset(
                word[:length] for word in words for length in range(FEWEST_LETTERS - 1, len(word) + 1)
            ),
        )

    def corrected(self, typed: str) -> list[str]:
        """What a folded text may have been but for one letter in one of its words: beginnings of known words."""
        words = typed.split()
        found = (
            " ".join([*words[:place], spelling, *words[place + 1 :]])
            for place in reversed(range(len(words)))
            for spelling in spellings(words[place])
            if spelling in self.beginnings
        )
        return list(dict.fromkeys(found))[:MOST_CORRECTIONS]


# When (time.monotonic) they were read, and what was read.
_lately = Lately(Words.read)


def spellings(word: str) -> list[str]:
    """What a word may have been, with two letters swapped, one other, one less or one more; likeliest first."""
    if not FEWEST_LETTERS <= len(word) <= MOST_LETTERS:
        return []
    cuts = [(word[:place], word[place:]) for place in range(len(word) + 1)]
    swapped = (head + tail[1] + tail[0] + tail[2:] for head, tail in cuts if len(tail) > 1)
    other = (head + letter + tail[1:] for head, tail in cuts if tail for letter in ascii_lowercase)
    less = (head + tail[1:] for head, tail in cuts if tail)
    more = (head + letter + tail for head, tail in cuts for letter in ascii_lowercase)
    return [each for each in dict.fromkeys(chain(swapped, other, less, more)) if each != word]
