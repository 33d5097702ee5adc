"""Features that set a restaurant apart: more of its reviews speak of them than of other restaurants."""

from math import log, sqrt

from catalogue.insights.analysis.aspect_lexicon import Feature, load_features
from catalogue.insights.analysis.review_analysis import ReviewAnalysis
from catalogue.insights.providers.base import FeatureClaim, MarketRates

MIN_MENTIONS, MIN_SHARE = 3, 0.05
# Standard deviations of the log-odds ratio (Monroe, Colaresi and Quinn, "Fightin' Words", 2008).
MIN_SCORE = 1.65
# The weight of the usual rate of a feature, in reviews, beside those of the market.
PRIOR_REVIEWS = 300


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


def _score(feature: Feature, mentions: int, total: int, market: MarketRates | None) -> float:
    """The log-odds ratio of a feature in its standard deviations."""
    others = feature.rate * PRIOR_REVIEWS + (market.features.get(feature.name, 0) if market else 0)
    reviews = PRIOR_REVIEWS + (market.reviews if market else 0)
    here, without = mentions + feature.rate, total - mentions + 1 - feature.rate
    ratio = log(here / without) - log(others / (reviews - others))
    return ratio / sqrt(1 / here + 1 / others)
