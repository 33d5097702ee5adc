"""Plan of a run: how many rows each market gets, in batches that are generated independently, with dates and ids."""

import math
import random
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import date, timedelta
from functools import cached_property

from catalogue.demo import vocabulary
from catalogue.hours import SpecialDay

MAX_BATCH_SIZE = 500
THREE_YEARS = 3 * 365
# 2026-01-01T00:00:00Z: fixed, so that a seed gives the same ids on any day.
START_MS = 1_767_225_600_000


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


@dataclass(frozen=True)
class Calendar:
    """About three years of days. Rows refer to a day by its index in `dates`."""

    today: date

    @cached_property
    def dates(self) -> tuple[str, ...]:
        """ISO dates, oldest first, up to yesterday."""
        return tuple(str(self.today - timedelta(days=ago)) for ago in range(THREE_YEARS + 30, 0, -1))

    @cached_property
    def first(self) -> int:
        """Index of the first day on which rows are created. Visits may lie up to 30 days before."""
        return len(self.dates) - THREE_YEARS

    @cached_property
    def last(self) -> int:
        """Index of yesterday."""
        return len(self.dates) - 1

    @cached_property
    def holiday_choices(self) -> tuple[tuple[SpecialDay, ...], ...]:
        """Closed days in the coming year, to choose from for a restaurant: none, Christmas, or also New Year."""

        def next_date(month: int, day: int) -> date:
            this_year = self.today.replace(month=month, day=day)
            return this_year if this_year >= self.today else this_year.replace(year=self.today.year + 1)

        christmas, new_year = SpecialDay(next_date(12, 25), ()), SpecialDay(next_date(1, 1), ())
        both = sorted((christmas, new_year), key=lambda special: special.date)
        return (), (), (), (christmas,), tuple(both)


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


def generate_ids(rng: random.Random, first: int, count: int) -> Iterator[str]:
    """Yield ascending ids for the rows `first` to `first + count - 1`, as the 32 hexadecimal digits that COPY reads.

    They are UUIDv7 (RFC 9562, section 5.7) whose timestamps count rows instead of milliseconds: 48 bits of time, then
    the version, the variant and 74 random bits.
    """
    bits = rng.getrandbits
    for milliseconds in range(START_MS + first, START_MS + first + count):
        yield f"{milliseconds << 16 | 0x7000 | bits(12):016x}{1 << 63 | bits(62):016x}"


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
