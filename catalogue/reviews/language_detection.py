"""Language detection of reviews whose source does not state the language.

The model takes 90 MB: importers, commands and workers load it, web processes do not.
"""

import re
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

# The candidates (ISO 639-1): the languages of guests in the markets, and languages similar to them, so that a text in
# one of those is not misclassified.
LANGUAGES = (
    *("ar", "ca", "cs", "da", "de", "el", "en", "es", "fi", "fr", "he", "hu", "id", "it"),
    *("ja", "ko", "nl", "no", "pl", "pt", "ro", "ru", "sv", "th", "tr", "uk", "vi", "zh"),
)
# Below this probability, or with fewer letters, the language is unknown.
MIN_PROBABILITY = 0.7
MIN_LETTERS = 20
# A Chinese or Japanese character counts as so many letters.
CJK_WEIGHT = 3
# The rest of a text does not change the result.
MAX_CHARS = 2_000
# Reviews that one transaction reads and writes.
BATCH = 2_000

NOT_WORDS = re.compile(r"https?:\S+|\S+@\S+|\d+")

COUNT_MISSING = "SELECT count(*) FROM catalogue_review WHERE lang = '' AND text <> ''"
NEXT_BATCH = """
SELECT id, restaurant_id, text FROM catalogue_review
WHERE id > %s AND lang = '' AND text <> '' ORDER BY id LIMIT %s
"""
# The text may have changed since it was read, and staff may have set the language.
WRITE = """
UPDATE catalogue_review AS review SET lang = detected.lang
FROM unnest(%s::uuid[], %s::text[], %s::text[]) AS detected (id, lang, text)
WHERE review.id = detected.id AND review.lang = '' AND review.text = detected.text
"""
LOCK = "SELECT FROM catalogue_restaurant WHERE id = ANY (%s) ORDER BY id FOR NO KEY UPDATE"


@dataclass(frozen=True, slots=True)
class FillResult:
    """How many reviews have a language now, and how many are unknown."""

    detected: int
    unknown: int


def detect_language(text: str) -> str:
    """The language of a text (ISO 639-1); empty if it is short or ambiguous. 30 µs; the first call takes 0.7 s."""
    words = NOT_WORDS.sub(" ", text[:MAX_CHARS])
    if sum(CJK_WEIGHT if letter >= "\u2e80" else 1 for letter in words if letter.isalpha()) < MIN_LETTERS:
        return ""
    lang, probability = _model().classify(words)
    return str(lang) if probability >= MIN_PROBABILITY else ""


def fill_missing(*, now: datetime, on_step: OnProgress, batch: int = BATCH) -> FillResult:
    """Detect the language of all reviews that have a text and no language.

    Each batch is a short transaction that updates the aggregates of its restaurants too, so a killed run can be
    repeated. Concurrent writes of staff and imports are not overwritten. About 20,000 reviews a second.
    """
    with connection.cursor() as cursor:
        cursor.execute(COUNT_MISSING)
        total = cursor.fetchone()[0]
    detected = checked = 0
    after = UUID(int=0)
    while True:
        with connection.cursor() as cursor:
            cursor.execute(NEXT_BATCH, [after, batch])
            rows: list[tuple[UUID, UUID, str]] = cursor.fetchall()
        if not rows:
            return FillResult(detected=detected, unknown=checked - detected)
        after = rows[-1][0]
        found = [(pk, restaurant, lang, text) for pk, restaurant, text in rows if (lang := detect_language(text))]
        if found:
            pks, restaurants, languages, texts = map(list, zip(*found, strict=True))
            with transaction.atomic(), connection.cursor() as cursor:
                # All writers lock restaurants first.
                cursor.execute(LOCK, [restaurants])
                cursor.execute(WRITE, [pks, languages, texts])
                detected += cursor.rowcount
                aggregates.update_restaurants(set(restaurants), now=now)
        checked += len(rows)
        on_step("reviews", checked, max(total, checked))


@cache
def _model() -> "LanguageIdentifier":
    # Imported here: web processes must not load numpy and the model.
    from py3langid.langid import MODEL_FILE, LanguageIdentifier

    model = LanguageIdentifier.from_model_file(MODEL_FILE, norm_probs=True)
    model.set_languages(LANGUAGES)
    return model
