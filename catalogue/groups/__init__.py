"""The groups of a restaurant's fields: what the selector `fields` names, what each holds, and what is sold."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from catalogue.groups import context, insights, places, reviews
from catalogue.models import Restaurant
from config.api.refusal import NotFound

__all__ = ["GROUPS", "Group", "Record", "record"]


@dataclass(frozen=True, slots=True)
class Group:
    """Fields that are asked for together.

    `read` gives their values, of a restaurant with its market and cuisine loaded, at a moment; the first of them is
    None where there is no content. `product` is what is paid for that content, None where it is free.
    """

    read: Callable[[Restaurant, datetime], Mapping[str, Any]]
    product: str | None = None
    in_lists: bool = False


@dataclass(frozen=True, slots=True)
class Record:
    """The values of one restaurant, and the products among them that cost something: none without content."""

    values: Mapping[str, Any]
    sold: tuple[str, ...]


def record(slug: str, *, groups: Sequence[str], now: datetime) -> Record:
    """One restaurant: its slug, its name and the fields of the groups.

    One query, and those of the groups. Raises NotFound.
    """
    restaurant = Restaurant.objects.select_related("market", "cuisine").filter(slug=slug).first()
    if restaurant is None:
        raise NotFound("There is no restaurant of this slug.")
    values: dict[str, Any] = {"slug": restaurant.slug, "name": restaurant.name}
    sold: list[str] = []
    for name, group in GROUPS.items():
        if name in groups:
            found = group.read(restaurant, now)
            if group.product and next(iter(found.values())) is not None:
                sold.append(group.product)
            values |= found
    return Record(values, tuple(sold))


# The selector knows these; a group that is not here is unknown to a caller.
GROUPS: Mapping[str, Group] = {
    "core": Group(places.core, in_lists=True),
    "reviews": Group(reviews.newest, product="reviews"),
    "context": Group(context.around, product="context"),
    "ai_insight": Group(insights.insight, product="ai_insight"),
}
