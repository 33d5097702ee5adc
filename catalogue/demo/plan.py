"""Plan of a run: how many restaurants and reviews each market gets, in batches that are generated independently."""

import math
import random
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import date

from catalogue.demo import vocabulary

MAX_BATCH_SIZE = 500


@dataclass(frozen=True)
class Anchor:
    """A landmark around which restaurants are placed, in proportion to its weight."""

    name: str
    is_neighborhood: bool
    latitude: float
    longitude: float
    weight: float


@dataclass(frozen=True)
class Market:
    """The columns of a market that the generator needs, so that it runs without a database."""

    slug: str
    name: str
    country: str
    timezone: str
    anchors: tuple[Anchor, ...]


@dataclass(frozen=True)
class World:
    """The input that all batches of a run share."""

    seed: int
    today: date
    markets: Mapping[str, Market]


@dataclass(frozen=True)
class Batch:
    """Consecutive restaurants of one market.

    `first` is the number of the first restaurant, `review_counts` has one entry for each, and `first_review` is the
    number of reviews in the batches before, so that ids ascend through the whole run.
    """

    number: int
    market: str
    first: int
    review_counts: tuple[int, ...]
    first_review: int


def plan_batches(world: World, *, restaurants: int, reviews: int) -> list[Batch]:
    """Return batches with exactly these totals. From 12 restaurants on, every market has some."""
    rng = random.Random(f"{world.seed}/reviews")  # noqa: S311  # reproducible, not secret
    # Log-normal: most restaurants have few reviews, some very many, one in sixteen none.
    weights = [0.0 if rng.random() < 1 / 16 else rng.lognormvariate(0, 1.25) for _ in range(restaurants)]
    # All weights can be zero when there are few restaurants.
    counts = _split(reviews, weights if any(weights) else [1.0] * restaurants)
    markets = sorted(world.markets)
    base_size = min(1, restaurants // len(markets))
    shares = [vocabulary.cities()[market].share for market in markets]
    batches: list[Batch] = []
    first = first_review = 0
    for market, part in zip(markets, _split(restaurants - base_size * len(markets), shares), strict=True):
        end = first + base_size + part
        while first < end:
            batch_counts = tuple(counts[first : min(first + MAX_BATCH_SIZE, end)])
            batches.append(Batch(len(batches), market, first, batch_counts, first_review))
            first += len(batch_counts)
            first_review += sum(batch_counts)
    return batches


def _split(total: int, weights: Sequence[float]) -> list[int]:
    """Split `total` into integers in proportion to the weights."""
    weight_sum = math.fsum(weights)
    parts: list[int] = []
    cumulative_weight = 0.0
    assigned = 0
    for weight in weights:
        cumulative_weight += weight
        upper = min(total, round(total * cumulative_weight / weight_sum))
        parts.append(upper - assigned)
        assigned = upper
    return parts
