"""The text of an insight: sentences around the claims, with their numbers."""

from collections.abc import Iterator, Sequence

from catalogue.insights.analysis.best_time import listed
from catalogue.insights.providers.base import LONGEST, BestTime, Claim, WatchOut

PRAISED, DIVIDED = 0.75, 0.4
# A dish with fewer who are pleased is told, and not recommended by the way.
LIKED = 0.5
# A dish of which so many times as many speak as of the next stands out.
STANDS_OUT = 2
# So few mentions are the most of nothing.
FEW = 2
MOST_DISHES = 3
# How a sentence calls an aspect.
CALLED = {
    "food": "the food",
    "service": "the service",
    "atmosphere": "the atmosphere",
    "value": "the value for money",
}
# Ways to say the same; a restaurant has one of each.
PRAISE = ("Praise goes to {}.", "Most are happy with {}.", "Guests speak well of {}.")
DIFFER = ("Opinions differ on {}.", "Guests are divided on {}.")
POOR = ("Few are happy with {}.", "Little praise goes to {}.")
WATCH = ("Watch out for {}.", "Some complain of {}.", "Complaints are about {}.")


def write(
    *,
    reviews: int,
    dishes: Sequence[Claim],
    aspects: Sequence[Claim],
    watch_outs: Sequence[WatchOut],
    best_time: BestTime | None,
    wording: int = 0,
) -> str:
    """As many sentences as fit into LONGEST characters, the weightiest first; empty where there is no claim.

    Another `wording` says the same in other words.
    """
    text = ""
    for sentence in _sentences(reviews, dishes, aspects, watch_outs, best_time, wording):
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
    wording: int,
) -> Iterator[str]:
    if dishes:
        yield from _of_dishes(reviews, dishes[:MOST_DISHES], wording)
    for ways, found in (
        (PRAISE, [aspect for aspect in aspects if aspect.positive_share >= PRAISED]),
        (DIFFER, [aspect for aspect in aspects if DIVIDED <= aspect.positive_share < PRAISED]),
        (POOR, [aspect for aspect in aspects if aspect.positive_share < DIVIDED]),
    ):
        if found:
            named = [f"{CALLED[each.name]} ({_pleased_of(each)})" for each in found]
            yield _said(ways, wording).format(listed(named, " and "))
    if watch_outs:
        first, *others = watch_outs
        named = [f"{first.text} ({first.mentions} reviews)", *(f"{each.text} ({each.mentions})" for each in others)]
        yield _said(WATCH, wording // 7).format(listed(named, " and "))
    if best_time:
        yield best_time.text


def _of_dishes(reviews: int, dishes: Sequence[Claim], wording: int) -> Iterator[str]:
    """The dishes that are talked about; those that please less than half by themselves."""
    liked = [dish for dish in dishes if dish.positive_share >= LIKED]
    if liked:
        first, *others = liked
        top = f"the {first.name} ({first.mentions} of {reviews} reviews, {_pleased(first)})"
        rest = [f"the {dish.name} ({dish.mentions}, {_pleased(dish)})" for dish in others]
        others_most = others[0].mentions if others else FEW
        leads = first is dishes[0] and first.mentions > others_most
        if rest and leads and first.mentions >= STANDS_OUT * others[0].mentions:
            yield f"One dish stands out: {top}. Others name {listed(rest, ' and ')}."
        elif rest and leads and wording % 2:
            yield f"Guests name {top} most, then {listed(rest, ' and ')}."
        else:
            yield f"Guests talk {'most ' if leads else ''}about {listed([top, *rest], ' and ')}."
    poor = [dish for dish in dishes if dish not in liked]
    if poor:
        named = [f"the {dish.name} ({_pleased_of(dish)})" for dish in poor]
        yield f"{'Less liked' if liked else 'Named most, but not liked'}: {listed(named, ' and ')}."


def _said(ways: Sequence[str], wording: int) -> str:
    return ways[wording % len(ways)]


def _pleased(claim: Claim) -> str:
    """How many of those who mention it are pleased, where their number stands beside."""
    if claim.pleased == claim.mentions:
        return "both pleased" if claim.mentions == 2 else "all pleased"
    return f"{claim.pleased or 'none'} pleased"


def _pleased_of(claim: Claim) -> str:
    """The same with their number."""
    if claim.pleased == claim.mentions:
        return f"{'both' if claim.mentions == 2 else f'all {claim.mentions}'} pleased"
    return f"{claim.pleased or 'none'} of {claim.mentions} pleased"
