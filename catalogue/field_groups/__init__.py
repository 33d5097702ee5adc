"""The groups of a restaurant's fields: what the selector `fields` names, what each holds, and what is sold."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from catalogue import places as catalogue_places
from catalogue.field_groups import as_of, context, history, insights, photos, reviews
from catalogue.field_groups import core as field_groups_core
from catalogue.field_groups.core import Core
from catalogue.models import Restaurant
from catalogue.places import Place
from framework.errors import InvalidRequest

__all__ = ["CORE", "GROUPS", "Core", "Group", "Record", "record"]

CORE = "core"
# Both the group and the product.
HISTORY = "history"


@dataclass(frozen=True, slots=True)
class Group:
    """Fields that are asked for together.

    `read` gives their values, of a restaurant at a moment; the first of them is None where there is no content.
    `product` is what is paid for that content. The free one has neither: the database has rendered it.
    """

    read: Callable[[Restaurant | Place, datetime], Mapping[str, Any]] | None = None
    product: str | None = None
    in_lists: bool = False


@dataclass(frozen=True, slots=True)
class Record:
    """What is told of one restaurant, and the products in it that cost something: none without content.

    `values` are its slug, its name and those of the groups but `core`, which is None where nobody asked for it.
    """

    values: Mapping[str, Any]
    sold: tuple[str, ...] = ()
    core: Core | None = None


def record(slug: str, *, groups: Sequence[str], now: datetime, at: datetime | None = None) -> Record:
    """One restaurant: its slug, its name and the fields of the groups; `core` also as it was `at` a moment, and sold.

    Two queries for `core`; for all other groups one, and those of each. Raises what identity.place and past.core do.
    """
    if at is not None:
        if tuple(groups) != (CORE,):
            raise InvalidRequest(
                "Of the past there is `core` alone: leave the other field groups out.", param="fields"
            )
        return Record({}, sold=(HISTORY,), core=as_of.core(slug, at=at, now=now))
    core = field_groups_core.core(slug, now=now) if CORE in groups else None
    wanted = [group for name, group in GROUPS.items() if name in groups and name != CORE]
    if core and not wanted:
        return Record({}, core=core)
    restaurant = catalogue_places.find_place(slug)
    values: dict[str, Any] = {"slug": restaurant.slug, "name": restaurant.name}
    sold: list[str] = []
    for group in wanted:
        found = group.read(restaurant, now) if group.read else {}
        if group.product and next(iter(found.values())) is not None:
            sold.append(group.product)
        values |= found
    return Record(values, tuple(sold), core)


# The selector knows these; a group that is not here is unknown to a caller.
GROUPS: Mapping[str, Group] = {
    CORE: Group(in_lists=True),
    "reviews": Group(reviews.newest, product="reviews"),
    "photos": Group(photos.newest, product="photos"),
    "context": Group(context.around, product="context"),
    "ai_insight": Group(insights.insight, product="ai_insight"),
    HISTORY: Group(history.newest, product=HISTORY),
}
