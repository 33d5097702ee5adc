"""Field groups: the fields of a restaurant that the parameter `fields` selects, and the products among them."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from catalogue import places
from catalogue.field_groups import as_of, context, insights, menu, newest
from catalogue.field_groups.core import CoreFields, read_core, read_several
from catalogue.models import Restaurant
from catalogue.places import Place
from framework.errors import InvalidRequest

CORE = "core"
# Both the group and the product.
HISTORY = "history"


@dataclass(frozen=True, slots=True)
class Group:
    """A field group.

    `read` returns its fields at a moment; the first one is None if there is no content. `product` is what is paid for
    the content. `core` has neither, because the database has rendered it.
    """

    read: Callable[[Restaurant | Place, datetime], Mapping[str, Any]] | None = None
    product: str | None = None
    in_lists: bool = False


@dataclass(frozen=True, slots=True)
class Record:
    """The requested fields of a restaurant, and the products among them: a group without content is free.

    `values` are the slug, the name and the fields of all groups except `core`, which is None if it was not requested.
    """

    values: Mapping[str, Any]
    sold: tuple[str, ...] = ()
    core: CoreFields | None = None


def read_record(slug: str, *, groups: Sequence[str], now: datetime, at: datetime | None = None) -> Record:
    """Return the requested groups of a restaurant; with `at` only `core`, as it was then, which is sold as history.

    One query for `core`; one for all other groups together, and those of each. Raises what places.find_place and
    as_of.read_core_as_of raise.
    """
    if at is not None:
        if tuple(groups) != (CORE,):
            message = "`at` is for the group `core` only: leave the other field groups out."
            raise InvalidRequest(message, param="fields")
        return Record({}, sold=(HISTORY,), core=as_of.read_core_as_of(slug, at=at, now=now))
    core = read_core(slug, now=now) if CORE in groups else None
    if core and tuple(groups) == (CORE,):
        return Record({}, core=core)
    return _read_others(places.find_place(slug), core, groups=groups, now=now)


def read_records(slugs: Sequence[str], *, groups: Sequence[str], now: datetime) -> Mapping[str, Record]:
    """Return the requested groups of some restaurants by slug, without those that are missing.

    One query for `core` of all; one for all other groups together, and those of each group of each restaurant.
    """
    cores = read_several(slugs, now=now) if CORE in groups else {}
    if tuple(groups) == (CORE,):
        return {slug: Record({}, core=core) for slug, core in cores.items()}
    return {
        slug: _read_others(place, cores.get(slug), groups=groups, now=now)
        for slug, place in places.find_places(slugs).items()
        if CORE not in groups or slug in cores
    }


def _read_others(restaurant: Place, core: CoreFields | None, *, groups: Sequence[str], now: datetime) -> Record:
    """Return a record with the requested groups; `core` has been read."""
    others = [group for name, group in GROUPS.items() if name in groups and name != CORE]
    values: dict[str, Any] = {"slug": restaurant.slug, "name": restaurant.name}
    sold: list[str] = []
    for group in others:
        fields = group.read(restaurant, now) if group.read else {}
        if group.product and next(iter(fields.values())) is not None:
            sold.append(group.product)
        values |= fields
    return Record(values, tuple(sold), core)


# The values of `fields`.
GROUPS: Mapping[str, Group] = {
    CORE: Group(in_lists=True),
    "menu": Group(menu.read_group),
    "reviews": Group(newest.read_reviews, product="reviews"),
    "photos": Group(newest.read_photos, product="photos"),
    "context": Group(context.read_group, product="context"),
    "ai_insight": Group(insights.read_group, product="ai_insight"),
    HISTORY: Group(newest.read_history, product=HISTORY),
}
