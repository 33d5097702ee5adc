"""How often the reviews of a market speak of each feature, in a sample: what a restaurant is contrasted with."""

from collections import Counter
from threading import Lock
from typing import Any

from cachetools import TTLCache, cached
from django.db import connection

from catalogue.insights.pipeline.staleness import MIN_REVIEWS
from catalogue.insights.providers.base import MarketRates
from framework.db.sql_files import read_sql

SAMPLE = read_sql("catalogue", "sample_market_reviews")
# About 600 reviews: a fifth of a second, once a day in each process.
MAX_RESTAURANTS, REVIEWS_EACH = 100, 6
# Fewer reviews say little about a market.
MIN_SAMPLE = 200
MAX_AGE_S = 86_400


@cached(TTLCache(maxsize=256, ttl=MAX_AGE_S), lock=Lock())
def read_market_rates(market: Any) -> MarketRates | None:
    """The rates of a market by its primary key; None if too few reviews are stored. One query, then cached."""
    # Processes that only serve insights never load the lexicons.
    from catalogue.insights.analysis.review_analysis import find_features, find_noun_phrases

    with connection.cursor() as cursor:
        cursor.execute(
            SAMPLE,
            {
                "market": market,
                "min_reviews": MIN_REVIEWS,
                "restaurants": MAX_RESTAURANTS,
                "each": REVIEWS_EACH,
            },
        )
        rows = [(text, lang) for text, lang in cursor.fetchall() if text]
    if len(rows) < MIN_SAMPLE:
        return None
    features: Counter[str] = Counter()
    phrases: Counter[str] = Counter()
    for text, lang in rows:
        features.update(find_features(text, lang=lang))
        phrases.update(find_noun_phrases(text, lang=lang))
    english = sum(lang[:2] == "en" for _, lang in rows)
    # A noun of one review says nothing about the market.
    return MarketRates(len(rows), features, english, {word: count for word, count in phrases.items() if count > 1})
