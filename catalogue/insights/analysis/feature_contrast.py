"""What sets a restaurant apart: more of its reviews speak of it than of other restaurants."""

from math import log, sqrt

from catalogue.insights.analysis import dish_names
from catalogue.insights.analysis.aspect_lexicon import ENGLISH, Feature, load_features
from catalogue.insights.analysis.noun_phrases import is_worth_naming
from catalogue.insights.analysis.review_analysis import ReviewAnalysis
from catalogue.insights.providers.base import Claim, FeatureClaim, MarketRates

MIN_MENTIONS, MIN_SHARE = 3, 0.05
# Standard deviations of the log-odds ratio (Monroe, Colaresi and Quinn, "Fightin' Words", 2008).
MIN_SCORE = 1.65
# The weight of the usual rate of a feature, in reviews, beside those of the market.
PRIOR_REVIEWS = 300
# A noun that is no feature of the lexicon needs more reviews, a clearer contrast, and a market to be contrasted with.
MIN_PHRASE_MENTIONS, MIN_PHRASE_SCORE, MIN_ENGLISH_SAMPLE = 4, 2.6, 150
# Of the uses of a noun so many are in lower case; others are names at the beginning of sentences.
MIN_LOWER_SHARE = 0.5
# The share of reviews that write a common noun, and its weight in reviews.
PHRASE_RATE = 0.003
# A noun is part of a pair if so many of its reviews write the pair: "salsa bar" instead of "bar".
MIN_PAIR_SHARE = 0.6


def find_features(analysis: ReviewAnalysis, *, market: MarketRates | None) -> tuple[FeatureClaim, ...]:
    """The features by their log-odds ratio against the market, or against their usual rate without one."""
    total = analysis.analyzed
    scored: list[tuple[float, FeatureClaim]] = []
    for feature in load_features():
        tally = analysis.features.get(feature.name)
        if tally is None or len(tally.polarities) < max(MIN_MENTIONS, MIN_SHARE * total):
            continue
        score = _score(feature, len(tally.polarities), total, market)
        if score >= MIN_SCORE:
            claim = tally.to_claim(feature.name)
            scored.append((score, FeatureClaim(claim.name, feature.kind, claim.mentions, claim.citations)))
    scored.sort(key=lambda item: (-item[0], item[1].name))
    return tuple(claim for _, claim in scored)


def find_phrases(analysis: ReviewAnalysis, *, market: MarketRates | None) -> tuple[FeatureClaim, ...]:
    """The nouns that English reviews write more often than those of the market, the most distinctive first."""
    total = analysis.languages[ENGLISH]
    if market is None or market.english_reviews < MIN_ENGLISH_SAMPLE:
        return ()
    scored: list[tuple[float, str]] = []
    for phrase, tally in analysis.phrases.items():
        mentions = len(tally.polarities)
        spellings = analysis.spellings[phrase]
        lower = sum(count for written, count in spellings.items() if written.islower())
        is_name = lower < MIN_LOWER_SHARE * spellings.total()
        if mentions < max(MIN_PHRASE_MENTIONS, MIN_SHARE * total) or is_name or not is_worth_naming(phrase):
            continue
        others = market.phrases.get(phrase, 0)
        score = _log_odds(PHRASE_RATE, mentions, total, others, market.english_reviews)
        if score >= MIN_PHRASE_SCORE:
            scored.append((score, phrase))
    scored.sort(key=lambda item: (-item[0], item[1]))
    found = {phrase for _, phrase in scored}
    claims: list[tuple[str, Claim]] = []
    for _, phrase in scored:
        tally = analysis.phrases[phrase]
        is_part = any(
            phrase in other.split()
            and phrase != other
            and len(analysis.phrases[other].polarities) >= MIN_PAIR_SHARE * len(tally.polarities)
            for other in found
        )
        # Of a pair and its words only one is named.
        is_named = any(set(phrase.split()) & set(claim.split()) for claim, _ in claims)
        if not is_part and not is_named:
            claims.append((phrase, tally.to_claim(dish_names.choose_spelling(analysis.spellings[phrase]))))
    return tuple(FeatureClaim(claim.name, "feature", claim.mentions, claim.citations) for _, claim in claims)


def _score(feature: Feature, mentions: int, total: int, market: MarketRates | None) -> float:
    """The log-odds ratio of a feature in its standard deviations."""
    others = market.features.get(feature.name, 0) if market else 0
    return _log_odds(feature.rate, mentions, total, others, market.reviews if market else 0)


def _log_odds(rate: float, mentions: int, total: int, others: float, reviews: int) -> float:
    """The log-odds ratio of `mentions` of `total` reviews here and `others` of `reviews` elsewhere, in deviations."""
    others += rate * PRIOR_REVIEWS
    reviews += PRIOR_REVIEWS
    here, without = mentions + rate, total - mentions + 1 - rate
    ratio = log(here / without) - log(others / (reviews - others))
    return ratio / sqrt(1 / here + 1 / others)
