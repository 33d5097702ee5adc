"""The dishes of a restaurant by the number of reviews that name them."""

from collections.abc import Callable, Mapping, Sequence, Set
from dataclasses import dataclass

from catalogue.insights.analysis import dish_names
from catalogue.insights.analysis.dish_names import Token
from catalogue.insights.analysis.review_analysis import ReviewAnalysis
from catalogue.insights.providers.base import Claim

# A name is incomplete if so many of the reviews with it write the same longer name: "gulab" of "gulab jamun".
MIN_LONGER_SHARE = 0.75
# A description and a food are a dish if so many of the reviews with the food write both: "crispy corn", not "spicy
# chicken".
MIN_DESCRIBED_SHARE = 0.3
# A dish that suspicious reviews name needs so many times as many others, or this share of all others: who injects text
# names dishes in reviews that look harmless too, but must not remove one that nearly everybody names.
MIN_CLEAN_RATIO, MIN_CLEAN_SHARE = 3, 0.2
# The first dish is called the most named one from so many reviews on, and with so many times those of the next.
MIN_CLEAR_MENTIONS, MIN_CLEAR_RATIO = 5, 1.25


@dataclass(frozen=True, slots=True)
class RankedDishes:
    """Dishes, the most named first, and whether no other dish or food is named as often as the first one."""

    claims: Sequence[Claim]
    is_first_clear: bool


def rank_dishes(analysis: ReviewAnalysis, *, min_mentions: Callable[[str], float], max_dishes: int) -> RankedDishes:
    """The most named dishes. A dish counts each review that names it or a variety of it ("chicken biryani").

    `min_mentions` is how many reviews must name the dish of a key.
    """
    counts = {key: len(tally.polarities) for key, tally in analysis.dishes.items()}
    # Also names in too few reviews show that a shorter one is incomplete.
    counts = {
        key: count
        for key, count in counts.items()
        if count >= max(2, int(MIN_LONGER_SHARE * min_mentions(key))) and not _is_injected(analysis, key)
    }
    padded = {key: f" {key} " for key in counts}
    incomplete = {
        key
        for key, count in counts.items()
        for other, other_count in counts.items()
        if key != other and padded[key] in padded[other] and other_count >= MIN_LONGER_SHARE * count
    }
    whole = {
        key
        for key in counts.keys() - incomplete
        if counts[key] >= min_mentions(key) and _is_name(analysis.parts[key], counts[key], analysis.foods)
    }
    # The longest of several complete names of a dish is a variety of it.
    varieties = {key for key in whole for other in whole if key != other and padded[other] in padded[key]}
    names = whole - varieties
    claims = [analysis.dishes[key].to_claim(dish_names.choose_spelling(analysis.spellings[key])) for key in names]
    claims.sort(key=lambda claim: (-claim.mentions, -claim.positive_share, claim.name))
    return RankedDishes(claims[:max_dishes], _is_first_clear(claims, analysis.foods))


def _is_injected(analysis: ReviewAnalysis, key: str) -> bool:
    """Whether suspicious reviews name a dish, and few others do."""
    clean, total = len(analysis.dishes[key].polarities), analysis.analyzed
    return clean < min(MIN_CLEAN_RATIO * analysis.suspicious_dishes[key], MIN_CLEAN_SHARE * total)


def _is_name(part: Sequence[Token], count: int, foods: Mapping[str, Set[str]]) -> bool:
    """Whether a part is a dish in itself, not a food with a description of it."""
    if any(token.kind == "dish" for token in part):
        return True
    described = [token for token in part if token.kind == "food"]
    if any(token.kind == "kind" for token in part) or len(described) > 1:
        return True
    return all(count >= MIN_DESCRIBED_SHARE * len(foods[token.text]) for token in described)


def _is_first_clear(claims: Sequence[Claim], foods: Mapping[str, Set[str]]) -> bool:
    """Whether the first claim has clearly more reviews than the next, and more than any food outside of its name."""
    if not claims or claims[0].mentions < MIN_CLEAR_MENTIONS:
        return False
    first, *others = claims
    own_words = dish_names.normalize_name(first.name).split()
    rivals = [len(reviews) for word, reviews in foods.items() if not set(word.split()) & set(own_words)]
    return first.mentions > max(rivals, default=0) and all(
        first.mentions >= MIN_CLEAR_RATIO * claim.mentions for claim in others
    )
