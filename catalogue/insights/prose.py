"""The text of an insight: sentences around the claims, with their numbers."""

from collections.abc import Iterator, Sequence

from catalogue.insights.provider import LONGEST, BestTime, Claim, WatchOut
from catalogue.insights.times import listed

PRAISED, DIVIDED = 0.75, 0.4
MOST_DISHES = 3
# How a sentence calls an aspect.
CALLED = {
    "food": "the food",
    "service": "the service",
    "atmosphere": "the atmosphere",
    "value": "the value",
}


def write(
    *,
    reviews: int,
    dishes: Sequence[Claim],
    aspects: Sequence[Claim],
    watch_outs: Sequence[WatchOut],
    best_time: BestTime | None,
) -> str:
    """As many sentences as fit into LONGEST characters, the weightiest first; empty where there is no claim."""
    text = ""
    for sentence in _sentences(reviews, dishes, aspects, watch_outs, best_time):
        longer = f"{text} {sentence}".lstrip()
        if len(longer) > LONGEST:
            break
        text = longer
    return text


def _sentences(
    reviews: int,
    dishes: Sequence[Claim],
    aspects: Sequence[Claim],
    watch_outs: Sequence[WatchOut],
    best_time: BestTime | None,
) -> Iterator[str]:
    if dishes:
        first, *others = dishes[:MOST_DISHES]
        named = [f"the {first.name} ({first.mentions} of {reviews} reviews, {_pleased(first)})"]
        named += [f"the {dish.name} ({dish.mentions}, {_pleased(dish)})" for dish in others]
        yield f"Guests talk most about {listed(named, ' and ')}."
    praised = [aspect for aspect in aspects if aspect.positive_share >= PRAISED]
    if praised:
        yield f"Praise goes to {_named(praised)}."
    divided = [aspect for aspect in aspects if DIVIDED <= aspect.positive_share < PRAISED]
    if divided:
        yield f"Opinions differ on {_named(divided)}."
    poor = [aspect for aspect in aspects if aspect.positive_share < DIVIDED]
    if poor:
        yield f"Few are happy with {_named(poor)}."
    if watch_outs:
        named = [f"{each.text} ({each.mentions} reviews)" for each in watch_outs]
        yield f"Watch out for {listed(named, ' and ')}."
    if best_time:
        yield best_time.text


def _pleased(claim: Claim) -> str:
    return f"{'all' if claim.pleased == claim.mentions else claim.pleased} pleased"


def _named(aspects: Sequence[Claim]) -> str:
    """Aspects, each with how many of those who mention it are pleased."""
    return listed([f"{CALLED[each.name]} ({each.pleased} of {each.mentions} pleased)" for each in aspects], " and ")
