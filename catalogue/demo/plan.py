"""What is to be generated where: how many places and reviews, in batches that do not depend on each other."""

import math
import random
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import date

from catalogue.demo import vocabulary

BATCH = 500


@dataclass(frozen=True)
class Anchor:
    """A landmark that places gather around; the weight is how much of the city eats there."""

    name: str
    is_neighborhood: bool
    latitude: float
    longitude: float
    weight: float


@dataclass(frozen=True)
class Market:
    """What the generator knows of a market."""

    slug: str
    name: str
    country: str
    timezone: str
    anchors: tuple[Anchor, ...]


@dataclass(frozen=True)
class World:
    """What all batches of a run share."""

    seed: int
    today: date
    markets: Mapping[str, Market]


@dataclass(frozen=True)
class Batch:
    """Consecutive places of one market: the number of the first, and how many reviews each has.

    `first_review` is how many reviews the batches before it have, so that ids ascend through the whole run.
    """

    number: int
    market: str
    first: int
    reviews: tuple[int, ...]
    first_review: int


def plan(world: World, *, restaurants: int, reviews: int) -> list[Batch]:
    """Batches with exactly these totals. From 12 restaurants on every market has its part."""
    counts = _review_counts(random.Random(f"{world.seed}/reviews"), restaurants, reviews)  # noqa: S311 not a secret
    batches: list[Batch] = []
    first = first_review = 0
    for market, size in _sizes(restaurants, sorted(world.markets)):
        end = first + size
        while first < end:
            part = tuple(counts[first : min(first + BATCH, end)])
            batches.append(Batch(len(batches), market, first, part, first_review))
            first += len(part)
            first_review += sum(part)
    return batches


def _sizes(restaurants: int, markets: Sequence[str]) -> list[tuple[str, int]]:
    shares = [vocabulary.cities()[market].share for market in markets]
    each = min(1, restaurants // len(markets))
    return list(zip(markets, (each + part for part in _split(restaurants - each * len(markets), shares)), strict=True))


def _review_counts(rng: random.Random, restaurants: int, reviews: int) -> list[int]:
    """Log-normal: most places have few, some very many, one in sixteen none."""
    weights = [0.0 if rng.random() < 1 / 16 else rng.lognormvariate(0, 1.25) for _ in range(restaurants)]
    # Where all came out as zero somebody still has to have the reviews.
    return _split(reviews, weights if any(weights) else [1.0] * restaurants)


def _split(total: int, weights: Sequence[float]) -> list[int]:
    """Integers in proportion to the weights that add up to the total."""
    whole = math.fsum(weights)
    parts: list[int] = []
    passed = 0.0
    given = 0
    for weight in weights:
        passed += weight
        upto = min(total, round(total * passed / whole))
        parts.append(upto - given)
        given = upto
    return parts
