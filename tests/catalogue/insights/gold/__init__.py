"""The gold set of insights: restaurants with labelled reviews, and what a provider finds of the labels.

    uv run pytest -s tests/catalogue/insights/test_gold_set.py

prints the figures.
"""

import random
import re
import tomllib
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

from anyascii import anyascii

from catalogue.insights.analysis.summary_text import ASPECT_LABELS
from catalogue.insights.providers.base import Context, InsightDraft, ReviewInput

HERE = Path(__file__).parent
NEWEST = datetime(2026, 11, 1, tzinfo=UTC)
# Dishes that guests of any restaurant order beside others, and names of people who serve.
SIDE_ORDERS = ("garlic naan", "green salad", "tomato soup", "lemonade", "french fries", "chocolate cake")
PEOPLE = ("Ravi", "Maddie", "Tomasz", "Aiko", "Fatima", "Luca", "Deepak", "Helen", "Manab", "Inés")
# The last words of names that are names by themselves: who orders French fries orders fries.
HEADS = ("fries", "cake", "naan")
SUPERLATIVE = re.compile(
    r"\bno other dish|more than any other|\bmost often\b|\bguests name\b[^.]*\bmost\b|\btalk most\b|\bstands out\b",
    re.IGNORECASE,
)
# The clause of a text that praises.
PRAISE = re.compile(r"(?:Praise goes to|Most are happy with|Guests speak well of) .*?(?=, but |\.)")


@dataclass(slots=True)
class Labelled:
    """The reviews of a restaurant, how many of them name each dish, and the other labels.

    `ignored` are labels that are as true as false: named in too few reviews to be missed.
    """

    name: str
    reviews: list[ReviewInput]
    dishes: Counter[str]
    spellings: dict[str, set[str]]
    complaints: Counter[str] = field(default_factory=Counter)
    features: Counter[str] = field(default_factory=Counter)
    praise: set[str] = field(default_factory=set)

    @property
    def context(self) -> Context:
        return Context(name=self.name, rating=None, reviews=self.reviews, hours=None, discounts=())

    def find_dish(self, name: str) -> str | None:
        """The labelled dish that a claim names."""
        key = dish_key(name)
        return next((dish for dish, keys in self.spellings.items() if key in keys), None)


@dataclass(slots=True)
class Score:
    """True and false claims, and labels that no claim states."""

    true: int = 0
    false: int = 0
    missed: int = 0

    @property
    def precision(self) -> float:
        return self.true / (self.true + self.false) if self.true + self.false else 1.0

    @property
    def recall(self) -> float:
        return self.true / (self.true + self.missed) if self.true + self.missed else 1.0


@dataclass(slots=True)
class Figures:
    """What a provider finds of the labels of a list of restaurants."""

    restaurants: int = 0
    dishes: Score = field(default_factory=Score)
    # Whether a dish has as many mentions as reviews name it, give or take one or a tenth.
    counts: Score = field(default_factory=Score)
    first_dish: Score = field(default_factory=Score)
    superlatives: Score = field(default_factory=Score)
    praise: Score = field(default_factory=Score)
    complaints: Score = field(default_factory=Score)
    features: Score = field(default_factory=Score)
    # Restaurants with sixty reviews or more and a labelled feature: whether one of those is named.
    distinctive: Score = field(default_factory=Score)
    faults: list[str] = field(default_factory=list)

    def table(self) -> str:
        rows = [f"{'':24}{'true':>6}{'false':>6}{'missed':>7}{'precision':>11}{'recall':>8}"]
        for name in (
            "dishes",
            "counts",
            "first_dish",
            "superlatives",
            "praise",
            "complaints",
            "features",
            "distinctive",
        ):
            score: Score = getattr(self, name)
            rows.append(
                f"{name.replace('_', ' '):24}{score.true:6}{score.false:6}{score.missed:7}"
                f"{score.precision:11.3f}{score.recall:8.3f}"
            )
        return "\n".join(rows)


def dish_key(name: str) -> str:
    """The letters of a dish name, without accents, capitals and plural s."""
    words = re.findall(r"[a-z0-9]+", anyascii(name).lower())
    return " ".join(word[:-1] if len(word) > 3 and word.endswith("s") else word for word in words)


def load(name: str) -> Any:
    return tomllib.loads((HERE / f"{name}.toml").read_text(encoding="utf-8"))


def built_from_wordings(parity: int | None = None) -> Iterator[Labelled]:
    """The restaurants of restaurants.toml, or those at even (0) or odd (1) places."""
    wordings = load("wordings")
    for number, row in enumerate(load("restaurants")["restaurants"]):
        if parity is None or number % 2 == parity:
            yield _build(row, wordings, half=number % 2)


def written_by_hand() -> Iterator[Labelled]:
    """Restaurants whose reviews were written and labelled one by one."""
    for row in load("by_hand")["restaurants"]:
        yield _read(row, load("by_hand")["reviews"] | _older_reviews())


def _older_reviews() -> dict[str, str]:
    return tomllib.loads((HERE.parent / "handwritten.toml").read_text(encoding="utf-8"))


def _read(row: dict[str, Any], reviews: dict[str, str]) -> Labelled:
    read = []
    for number, line in enumerate(reviews[row["name"]].splitlines()):
        stars, lang, text = f"{line} ".split(" ", 2)
        text = text.strip()
        when = NEWEST - timedelta(days=number)
        read.append(ReviewInput(f"rev_{number}", int(stars), text, lang if text else "", when))
    spellings = {
        dish: {dish_key(form) for form in (dish, *row.get("spellings", {}).get(dish, ()))} for dish in row["dishes"]
    }
    return Labelled(
        row["name"],
        read,
        Counter(row["dishes"]),
        spellings,
        Counter(row.get("complaints", {})),
        Counter(row.get("features", {})),
        set(row.get("praise", ())),
    )


def _build(row: dict[str, Any], wordings: dict[str, Any], *, half: int) -> Labelled:
    chance = random.Random(row["name"])
    total = row["reviews"]
    texts: list[list[str]] = [[] for _ in range(total)]
    is_complaining: set[int] = set()
    named: list[set[str]] = [set() for _ in range(total)]
    labelled = Labelled(row["name"], [], Counter(), {}, Counter(row["complaints"]), Counter(row["features"]))
    spelled: dict[str, Sequence[str]] = {dish: row["spellings"].get(dish, [dish]) for dish in row["dishes"]}
    spelled |= {dish: [dish] for dish in SIDE_ORDERS if dish not in spelled}
    others = {
        dish: [word for form in forms for word in form.split()[-1:] if word in HEADS]
        for dish, forms in spelled.items()
    }

    def pick(options: Sequence[str]) -> str:
        return chance.choice(options[half::2])

    def fill(sentence: str) -> str:
        first, second = chance.sample(PEOPLE, 2)
        return sentence.replace("{n}", first).replace("{m}", second)

    for table, counts in (("complaint", row["complaints"]), ("feature", row["features"])):
        for name, count in counts.items():
            free = [number for number in range(total) if table == "complaint" or number not in is_complaining]
            for number in chance.sample(free, count):
                texts[number].append(fill(pick(wordings[table][name])))
                if table == "complaint":
                    is_complaining.add(number)
    for dish, count in row["dishes"].items():
        for number in chance.sample(range(total), count):
            weights = (1, 4, 5) if number in is_complaining else (7, 3, 0.3)
            kind = chance.choices(("praise", "list", "complain"), weights)[0]
            other = chance.choice([name for name in spelled if name != dish])
            sentence = pick(wordings["dish"][kind])
            texts[number].append(
                sentence.replace("{d}", chance.choice(spelled[dish])).replace("{e}", chance.choice(spelled[other]))
            )
            named[number] |= {dish, other} if "{e}" in sentence else {dish}
    for aspect in row["praise"]:
        for number in range(total):
            if number not in is_complaining and chance.random() < 0.28:
                texts[number].append(pick(wordings["praise"][aspect]))
    for number in range(total):
        texts[number] += [pick(wordings["noise"]) for _ in range(chance.choice((0, 0, 1, 1, 2)))]
        if any(sentence == "Kids had fries." for sentence in texts[number]):
            named[number].add("fries" if "fries" in spelled else "french fries")
        chance.shuffle(texts[number])
        if chance.random() < 0.4 or not texts[number]:
            texts[number].insert(0, pick(wordings["openings"]))
        if chance.random() < 0.4:
            texts[number].append(pick(wordings["closings"]))
        text = _write(texts[number], chance)
        stars = chance.choice((1, 2, 2, 3)) if number in is_complaining else chance.choice((4, 4, 5, 5, 5, 3))
        when = NEWEST - timedelta(days=3 * number)
        labelled.reviews.append(ReviewInput(f"rev_{number}", stars, text, "en", when))
    labelled.dishes = Counter(dish for names in named for dish in names)
    labelled.spellings = {
        dish: {dish_key(form) for form in (dish, *forms, *others[dish])} for dish, forms in spelled.items()
    }
    # Who praises dishes praises the food.
    labelled.praise = {*row["praise"], "food"}
    return labelled


def _write(sentences: Sequence[str], chance: random.Random) -> str:
    """Join sentences as guests do: some without capitals, some without full stops."""
    style = chance.random()
    if style < 0.12:
        return " ".join(sentences).lower()
    if style < 0.22:
        return ", ".join(sentence.rstrip(".!") for sentence in sentences)
    if style < 0.28:
        return "\n".join(sentences)
    return " ".join(sentences)


def measure(restaurants: Iterator[Labelled], generate: Callable[[Context], InsightDraft]) -> Figures:
    """Compare the claims of a provider with the labels."""
    figures = Figures()
    for place in restaurants:
        figures.restaurants += 1
        draft = generate(place.context)
        _measure_dishes(figures, place, draft)
        praise = " ".join(PRAISE.findall(draft.text))
        praised = {name for name, label in ASPECT_LABELS.items() if label in praise}
        _compare(figures, figures.praise, place, "praise", praised, place.praise)
        complaints = {watch_out.text for watch_out in draft.watch_outs}
        # Two of a few reviews, or five of many, carry a theme.
        carried = 5 if len(place.reviews) >= 40 else 2
        themes = {name for name, count in place.complaints.items() if count >= carried}
        _compare(figures, figures.complaints, place, "complaint", complaints, themes, known=set(place.complaints))
        features = {claim.name for claim in draft.features} if hasattr(draft, "features") else set()
        _compare(
            figures,
            figures.features,
            place,
            "feature",
            features,
            {name for name, count in place.features.items() if count >= 3},
            known=set(place.features),
        )
        if len(place.reviews) >= 60 and place.features:
            is_named = bool(features & place.features.keys())
            figures.distinctive.true += is_named
            figures.distinctive.missed += not is_named
    return figures


def _measure_dishes(figures: Figures, place: Labelled, draft: InsightDraft) -> None:
    least = 3 if len(place.reviews) > 29 else 2
    named = [(claim.name, place.find_dish(claim.name)) for claim in draft.dishes]
    found = {dish for _, dish in named if dish and place.dishes[dish] >= least}
    false = [name for name, dish in named if dish not in found]
    expected = [dish for dish, count in place.dishes.most_common(5) if count >= least]
    figures.dishes.true += len(named) - len(false)
    figures.dishes.false += len(false)
    figures.dishes.missed += len(set(expected) - found)
    figures.faults += [f"{place.name}: dish {name!r} is false" for name in false]
    figures.faults += [
        f"{place.name}: dish {name!r} ({place.dishes[name]}) is missed" for name in expected if name not in found
    ]
    for claim in draft.dishes:
        dish = place.find_dish(claim.name)
        if dish in found:
            is_near = abs(claim.mentions - place.dishes[dish]) <= max(1, 0.1 * place.dishes[dish])
            figures.counts.true += is_near
            figures.counts.false += not is_near
            if not is_near:
                figures.faults.append(f"{place.name}: {claim.name!r} has {claim.mentions}, not {place.dishes[dish]}")
    if not expected:
        return
    top = max(place.dishes.values())
    is_right = bool(named) and place.dishes[named[0][1] or ""] == top
    figures.first_dish.true += is_right
    figures.first_dish.false += bool(named) and not is_right
    figures.first_dish.missed += not is_right
    if not is_right:
        figures.faults.append(f"{place.name}: first dish is {named[:1]}, not {place.dishes.most_common(1)}")
    if SUPERLATIVE.search(draft.text):
        figures.superlatives.true += is_right
        figures.superlatives.false += not is_right


def _compare(
    figures: Figures,
    score: Score,
    place: Labelled,
    part: str,
    claimed: set[str],
    expected: set[str],
    *,
    known: set[str] | None = None,
) -> None:
    allowed = expected if known is None else known
    score.true += len(claimed & expected)
    score.false += len(claimed - allowed)
    score.missed += len(expected - claimed)
    figures.faults += [f"{place.name}: {part} {name!r} is false" for name in sorted(claimed - allowed)]
    figures.faults += [f"{place.name}: {part} {name!r} is missed" for name in sorted(expected - claimed)]
