"""In which language a review is written, where its source does not say so: guessed by its letters, with care.

Whoever guesses loads a model of 90 MB: importers, commands and workers do, and no web process.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime
from functools import cache
from typing import TYPE_CHECKING
from uuid import UUID

from django.db import connection, transaction

from catalogue.reviews import aggregates
from framework.cli.progress import OnProgress

if TYPE_CHECKING:
    from py3langid.langid import LanguageIdentifier

# What a text may be, ISO 639-1: the languages that guests of our markets write. Of a language that is not among them a
# guess is wrong at worst where a neighbour is, so neighbours are here that nobody needs.
LANGUAGES = (
    *("ar", "ca", "cs", "da", "de", "el", "en", "es", "fi", "fr", "he", "hu", "id", "it"),
    *("ja", "ko", "nl", "no", "pl", "pt", "ro", "ru", "sv", "th", "tr", "uk", "vi", "zh"),
)
# Below this share of the model's belief, or with less than this to go by, nobody is sure.
SURE = 0.7
SHORTEST = 20
# A sign of Chinese or Japanese says as much as so many letters.
SIGN = 3
# More than the beginning changes no guess.
MOST_READ = 2_000
# Reviews that are looked at, and written, in one transaction.
BATCH = 2_000

# A name of a dish in another language is no reason: nor is an address.
NO_WORDS = re.compile(r"https?:\S+|\S+@\S+|\d+")

UNSAID = "SELECT count(*) FROM catalogue_review WHERE lang = '' AND text <> ''"
NEXT = """
SELECT id, restaurant_id, text FROM catalogue_review
WHERE id > %s AND lang = '' AND text <> '' ORDER BY id LIMIT %s
"""
# The words may have been mended since they were read, and staff may have said the language.
WRITE = """
UPDATE catalogue_review AS review SET lang = said.lang
FROM unnest(%s::uuid[], %s::text[], %s::text[]) AS said (id, lang, text)
WHERE review.id = said.id AND review.lang = '' AND review.text = said.text
"""
LOCK = "SELECT FROM catalogue_restaurant WHERE id = ANY (%s) ORDER BY id FOR NO KEY UPDATE"


@dataclass(frozen=True, slots=True)
class Filled:
    """How many reviews have a language now, and of how many nobody is sure."""

    told: int
    unsure: int


def guess(text: str) -> str:
    """The language of a text, ISO 639-1; empty where it is short or unsure. 30 µs, and once the loading: 0.7 s."""
    words = NO_WORDS.sub(" ", text[:MOST_READ])
    if sum(SIGN if letter >= "\u2e80" else 1 for letter in words if letter.isalpha()) < SHORTEST:
        return ""
    lang, belief = _model().classify(words)
    return str(lang) if belief >= SURE else ""


def fill(*, now: datetime, on_step: OnProgress, batch: int = BATCH) -> Filled:
    """Guess the language of all reviews that have words and no language, in the order of their ids.

    Each batch is a short transaction that counts the languages of its restaurants anew, so a run that is killed leaves
    whole batches and the next one goes on. What staff or an import write meanwhile stays. About 20,000 reviews a
    second are looked at.
    """
    with connection.cursor() as cursor:
        cursor.execute(UNSAID)
        total = cursor.fetchone()[0]
    told = seen = 0
    for rows in _batches(batch):
        guessed = [(pk, place, lang, text) for pk, place, text in rows if (lang := guess(text))]
        if guessed:
            told += _write(guessed, now=now)
        seen += len(rows)
        on_step("reviews", seen, max(total, seen))
    return Filled(told=told, unsure=seen - told)


def _batches(size: int) -> Iterator[list[tuple[UUID, UUID, str]]]:
    after = UUID(int=0)
    while True:
        with connection.cursor() as cursor:
            cursor.execute(NEXT, [after, size])
            rows = cursor.fetchall()
        if not rows:
            return
        after = rows[-1][0]
        yield rows


def _write(guessed: list[tuple[UUID, UUID, str, str]], *, now: datetime) -> int:
    """Restaurants first, as all do who write what is theirs."""
    places = {place for _, place, _, _ in guessed}
    with transaction.atomic(), connection.cursor() as cursor:
        cursor.execute(LOCK, [list(places)])
        cursor.execute(WRITE, [[row[0] for row in guessed], [row[2] for row in guessed], [row[3] for row in guessed]])
        written: int = cursor.rowcount
        aggregates.restaurants(places, now=now)
    return written


@cache
def _model() -> "LanguageIdentifier":
    # No web process may pay for numpy and the model.
    from py3langid.langid import MODEL_FILE, LanguageIdentifier

    model = LanguageIdentifier.from_model_file(MODEL_FILE, norm_probs=True)
    model.set_languages(LANGUAGES)
    return model
