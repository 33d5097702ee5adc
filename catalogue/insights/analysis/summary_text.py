"""The text of a local insight: template sentences with the counts of the claims."""

from collections.abc import Iterator, Sequence

from catalogue.insights.analysis.best_time import join_names
from catalogue.insights.providers.base import MAX_TEXT_LENGTH, BestTime, Claim, WatchOut

# Positive shares from which an aspect is praised, and below which it is criticized.
MIN_PRAISED_SHARE, MIN_DIVIDED_SHARE = 0.75, 0.4
MIN_LIKED_SHARE = 0.5
# A dish with so many times the mentions of the next one stands out.
STANDOUT_RATIO = 2
# A single dish is called the most mentioned only above so many mentions.
FEW_MENTIONS = 2
MAX_DISHES = 3
ASPECT_LABELS = {
    "food": "the food",
    "service": "the service",
    "atmosphere": "the atmosphere",
    "value": "the value for money",
}
# Wordings; a restaurant always has the same one of each.
PRAISED = ("Praise goes to {}.", "Most are happy with {}.", "Guests speak well of {}.")
DIVIDED = ("Opinions differ on {}.", "Guests are divided on {}.")
CRITICIZED = ("Few are happy with {}.", "Little praise goes to {}.")
COMPLAINTS = ("Watch out for {}.", "Some complain of {}.", "Complaints are about {}.")


def write_summary(
    *,
    reviews: int,
    dishes: Sequence[Claim],
    aspects: Sequence[Claim],
    watch_outs: Sequence[WatchOut],
    best_time: BestTime | None,
    wording: int = 0,
) -> str:
    """As many sentences as fit into MAX_TEXT_LENGTH, the most important first; empty without claims."""
    text = ""
    for sentence in _sentences(reviews, dishes, aspects, watch_outs, best_time, wording):
        longer = f"{text} {sentence}".lstrip()
        if len(longer) > MAX_TEXT_LENGTH:
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
        yield from _dish_sentences(reviews, dishes[:MAX_DISHES], wording)
    for templates, low, high in (
        (PRAISED, MIN_PRAISED_SHARE, 2),
        (DIVIDED, MIN_DIVIDED_SHARE, MIN_PRAISED_SHARE),
        (CRITICIZED, 0, MIN_DIVIDED_SHARE),
    ):
        labels = [
            f"{ASPECT_LABELS[aspect.name]} ({_positive_of_mentions(aspect)})"
            for aspect in aspects
            if low <= aspect.positive_share < high
        ]
        if labels:
            yield templates[wording % len(templates)].format(join_names(labels, " and "))
    if watch_outs:
        first, *others = watch_outs
        labels = [
            f"{first.text} ({first.mentions} reviews)",
            *(f"{other.text} ({other.mentions})" for other in others),
        ]
        yield COMPLAINTS[wording // 7 % len(COMPLAINTS)].format(join_names(labels, " and "))
    if best_time:
        yield best_time.text


def _dish_sentences(reviews: int, dishes: Sequence[Claim], wording: int) -> Iterator[str]:
    """The most mentioned dishes; those with less than half positive reviews in their own sentence."""
    liked = [dish for dish in dishes if dish.positive_share >= MIN_LIKED_SHARE]
    if liked:
        first, *others = liked
        top = f"the {first.name} ({first.mentions} of {reviews} reviews, {_positive(first)})"
        rest = [f"the {dish.name} ({dish.mentions}, {_positive(dish)})" for dish in others]
        next_mentions = others[0].mentions if others else FEW_MENTIONS
        is_top = first is dishes[0] and first.mentions > next_mentions
        if rest and is_top and first.mentions >= STANDOUT_RATIO * next_mentions:
            yield f"One dish stands out: {top}. Others name {join_names(rest, ' and ')}."
        elif rest and is_top and wording % 2:
            yield f"Guests name {top} most, then {join_names(rest, ' and ')}."
        else:
            yield f"Guests talk {'most ' if is_top else ''}about {join_names([top, *rest], ' and ')}."
    poor = [f"the {dish.name} ({_positive_of_mentions(dish)})" for dish in dishes if dish not in liked]
    if poor:
        yield f"{'Less liked' if liked else 'Named most, but not liked'}: {join_names(poor, ' and ')}."


def _positive(claim: Claim) -> str:
    """How many reviews are positive, beside the number of mentions."""
    if claim.positive == claim.mentions:
        return "both pleased" if claim.mentions == 2 else "all pleased"
    return f"{claim.positive or 'none'} pleased"


def _positive_of_mentions(claim: Claim) -> str:
    """How many of the mentions are positive."""
    if claim.positive == claim.mentions:
        return f"{'both' if claim.mentions == 2 else f'all {claim.mentions}'} pleased"
    return f"{claim.positive or 'none'} of {claim.mentions} pleased"
