"""The text of a local insight: three short sentences of its claims, with at most five counts, and the best time."""

from collections.abc import Iterator, Sequence, Set
from dataclasses import dataclass

from catalogue.insights.analysis.aspect_lexicon import load_features
from catalogue.insights.analysis.best_time import join_names
from catalogue.insights.providers.base import MAX_TEXT_LENGTH, BestTime, Claim, FeatureClaim, WatchOut

# Positive shares from which an aspect is praised, and below which it is criticized.
MIN_PRAISED_SHARE, MIN_DIVIDED_SHARE = 0.75, 0.4
MIN_LIKED_SHARE = 0.5
MAX_DISHES = MAX_FEATURES = 3
MAX_COMPLAINTS = 2
ASPECT_LABELS = {
    "food": "the food",
    "service": "the service",
    "atmosphere": "the atmosphere",
    "value": "the value for money",
}
FEATURE_LABELS = {
    "families": "family meals",
    "groups of friends": "evenings with friends",
    "couples": "romantic evenings",
    "celebrations": "birthdays and celebrations",
    "business meals": "meals with colleagues",
    "children": "visits with children",
    "work with a laptop": "working with a laptop",
    "dogs welcome": "dogs being welcome",
    "view": "the view",
    "dance floor": "the dance floor",
    "rooftop": "the rooftop",
    "outdoor seating": "the tables outside",
    "parking": "the parking",
    "buffet": "the buffet",
    "cocktails": "the cocktails",
    "craft beer": "the beer",
    "coffee": "the coffee",
    "themed decor": "the themed decor",
    "wine list": "the wine list",
    "private rooms": "the private rooms",
    "games": "games to play",
    "fireplace": "the fireplace",
    "counter and open kitchen": "the counter and the open kitchen",
    "whisky": "the whisky",
    "sake": "the sake",
    "cider": "the cider",
    "vermouth": "the vermouth",
    "aquavit": "the aquavit",
    "cosy cellar": "the cosy cellar",
    "staff thanked by name": "staff whom guests thank by name",
}
# Wordings; a restaurant always has the same one of each. {0} is the first dish with its count, {1} the others.
CLEAR_DISHES = (
    "Guests name {0} most{1}.",
    "No other dish comes up as often as {0}{1}.",
    "It is {0} that guests name most{1}.",
    "When guests name a dish, it is most often {0}{1}.",
    "Reviews name {0} more than any other dish{1}.",
)
OTHER_DISHES = (", then {}", "; others name {}", "; then come {}", ", followed by {}")
DISHES = (
    "Guests talk about {}.",
    "Among the dishes that guests name are {}.",
    "Reviews speak of {}.",
    "From the kitchen, guests mention {}.",
)
FEATURES = (
    "What sets it apart: {}.",
    "More than at other places, guests speak of {}.",
    "It stands for {}.",
    "Guests mention {} more often than elsewhere.",
)
PRAISED = ("Praise goes to {}", "Most are happy with {}", "Guests speak well of {}")
DIVIDED = ("opinions differ on {}", "guests are divided on {}", "views on {} are mixed")
CRITICIZED = ("few are happy with {}", "little praise goes to {}", "praise for {} is rare")
COMPLAINTS = ("some complain of {}", "complaints are about {}", "watch out for {}")


@dataclass(frozen=True, slots=True, kw_only=True)
class Summary:
    """The claims of a text.

    `is_first_clear` is whether the first dish may be called the most named one, and `praised` are the aspects that
    guests praise in words.
    """

    reviews: int
    dishes: Sequence[Claim]
    is_first_clear: bool
    features: Sequence[FeatureClaim]
    aspects: Sequence[Claim]
    praised: Set[str]
    watch_outs: Sequence[WatchOut]
    best_time: BestTime | None
    wording: int = 0


def write_summary(summary: Summary) -> str:
    """As many sentences as fit into MAX_TEXT_LENGTH, the most important first; empty without claims."""
    text = ""
    for sentence in _sentences(summary):
        longer = f"{text} {sentence}".lstrip()
        if len(longer) > MAX_TEXT_LENGTH:
            break
        text = longer
    return text


def _sentences(summary: Summary) -> Iterator[str]:
    """The dishes and the features, those with more mentions first, then praise and complaints, and the best time."""
    parts = [
        (claims[0].mentions, sentence)
        for claims, sentence in (
            (summary.dishes, _dish_sentence(summary)),
            (summary.features, _feature_sentence(summary)),
        )
        if claims and sentence
    ]
    yield from (sentence for _, sentence in sorted(parts, key=lambda part: -part[0]))
    if opinions := _opinions(summary):
        yield opinions
    if summary.best_time:
        yield summary.best_time.text


def _dish_sentence(summary: Summary) -> str:
    wording, total = summary.wording, summary.reviews
    if not summary.dishes:
        return ""
    first, *others = summary.dishes[:MAX_DISHES]
    top = f"the {first.name} ({first.mentions} of {total} reviews)"
    if first.positive_share < MIN_LIKED_SHARE:
        top = f"the {first.name} ({first.mentions} of {total} reviews, {first.positive or 'none'} pleased)"
    names = [f"the {dish.name}{_count(dish.mentions) if number == 0 else ''}" for number, dish in enumerate(others)]
    if not summary.is_first_clear:
        return DISHES[wording % len(DISHES)].format(join_names([top, *names], " and "))
    number = wording % len(CLEAR_DISHES)
    then = OTHER_DISHES[wording // 5 % len(OTHER_DISHES)].format(join_names(names, " and ")) if names else ""
    return _capitalize(CLEAR_DISHES[number].format(top, then))


def _feature_sentence(summary: Summary) -> str:
    labels = [
        _feature_label(claim.name) + (_count(claim.mentions, summary.reviews) if number == 0 else "")
        for number, claim in enumerate(summary.features[:MAX_FEATURES])
    ]
    return FEATURES[summary.wording // 3 % len(FEATURES)].format(join_names(labels, " and ")) if labels else ""


def _feature_label(name: str) -> str:
    """Our words for a feature of the lexicon; other nouns are those of guests."""
    is_ours = any(feature.name == name for feature in load_features())
    return FEATURE_LABELS.get(name, name if is_ours else f"the {name}")


def _opinions(summary: Summary) -> str:
    """Praise, mixed opinions and complaints, in a sentence."""
    wording = summary.wording // 7
    praise: list[str] = []
    doubts: list[str] = []
    for clauses, templates, low, high in (
        (praise, PRAISED, MIN_PRAISED_SHARE, 2.0),
        (doubts, DIVIDED, MIN_DIVIDED_SHARE, MIN_PRAISED_SHARE),
        (doubts, CRITICIZED, 0.0, MIN_DIVIDED_SHARE),
    ):
        labels = [
            ASPECT_LABELS[aspect.name]
            for aspect in summary.aspects
            if low <= aspect.positive_share < high and (templates is not PRAISED or aspect.name in summary.praised)
        ]
        if labels:
            clauses.append(templates[wording % len(templates)].format(join_names(labels, " and ")))
    if summary.watch_outs:
        first, *others = summary.watch_outs[:MAX_COMPLAINTS]
        labels = [f"{first.text}{_count(first.mentions, word=' reviews')}"]
        labels += [f"{other.text}{_count(other.mentions)}" for other in others]
        # Complaints say what the doubts are about.
        doubts = [COMPLAINTS[wording // 3 % len(COMPLAINTS)].format(join_names(labels, " and "))]
    clauses = [clause for clause in (", ".join(praise), ", and ".join(doubts)) if clause]
    return f"{_capitalize(', but '.join(clauses))}." if clauses else ""


def _count(mentions: int, total: int | None = None, word: str = "") -> str:
    return f" ({mentions} of {total} reviews)" if total else f" ({mentions}{word})"


def _capitalize(text: str) -> str:
    return text[:1].upper() + text[1:]
