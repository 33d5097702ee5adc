"""JSON Patch (RFC 6902) of versions: paths of the public record, and the old value of each operation."""

from collections.abc import Callable, Iterable, Iterator, Mapping
from datetime import UTC, datetime
from typing import Any

from catalogue.models import Cuisine

Operation = dict[str, Any]
Pair = tuple[Any, Any]

# Columns that have the same name in the record.
RECORD_COLUMNS = (
    *("slug", "name", "alt_names", "status", "neighborhood", "phone", "phone_verified_at", "website"),
    *("menu_url", "description"),
    *("rating", "review_count", "price_level", "cuisines", "verified_at"),
)
PATHS: Mapping[str, str] = {
    **{name: f"/{name}" for name in RECORD_COLUMNS},
    **{name: f"/address/{name}" for name in ("line1", "locality", "region", "postal_code", "country")},
    "market_id": "/market",
    "cuisine_id": "/cuisine",
}
# Stored to the microsecond with an offset, rendered to the second in UTC.
MOMENTS = ("phone_verified_at", "verified_at")
# Objects whose members have operations of their own.
OBJECTS: Mapping[str, str] = {"attributes": "/attributes", "external_ids": "/external_ids"}
PLACE = ("latitude", "longitude")
# The members of the record's hours, and their values without hours.
HOURS: Mapping[str, Any] = {"periods": [], "special_days": [], "display": [], "osm": None}


def to_json_patch(patch: Mapping[str, Any], *, label: Callable[[str], str] = str) -> list[Operation]:
    """Convert a stored patch ({column: [before, after]}) to operations on the previous record, sorted by path.

    `label` returns the label of a cuisine. Derived fields (the formatted address, the state of the hours) and columns
    that are not in the record are left out.
    """
    return sorted(_operations(patch, label), key=lambda operation: operation["path"])


def changed_paths(patch: Mapping[str, Any]) -> list[str]:
    """Return the changed paths: members of addresses and attributes, and otherwise the first step of a path."""
    detailed = ("/address/", "/attributes/", "/external_ids/")
    changed = [operation["path"] for operation in _operations(patch, str)]
    return sorted({path if path.startswith(detailed) else "/" + path.split("/")[1] for path in changed})


def load_cuisine_labels(patches: Iterable[Mapping[str, Any]]) -> Callable[[str], str]:
    """Return a function that labels the cuisines of these patches. One query, none without cuisines."""
    slugs = {slug for patch in patches for slug in patch.get("cuisine_id", ()) if slug}
    found = dict(Cuisine.objects.filter(slug__in=slugs).values_list("slug", "label")) if slugs else {}
    return lambda slug: found.get(slug, slug)


def _operations(patch: Mapping[str, Any], label: Callable[[str], str]) -> Iterator[Operation]:
    for column, (before, after) in patch.items():
        if column == "cuisine_id":
            yield _replace(PATHS[column], before and label(before), after and label(after))
        elif column in MOMENTS:
            old, value = _second(before), _second(after)
            if old != value:
                yield _replace(PATHS[column], old, value)
        elif column in PATHS:
            yield _replace(PATHS[column], before, after)
        elif column in OBJECTS:
            yield from _members(OBJECTS[column], before or {}, after or {})
        elif column == "hours":
            yield from _hours(before, after)
    yield from _place(patch)
    if "phone_verified_at" in patch:
        was, now = (value is not None for value in patch["phone_verified_at"])
        if was != now:
            yield _replace("/phone_verified", was, now)


def _second(moment: str | None) -> str | None:
    return moment and f"{datetime.fromisoformat(moment).astimezone(UTC):%Y-%m-%dT%H:%M:%SZ}"


def _replace(path: str, old: Any, value: Any) -> Operation:
    return {"op": "replace", "path": path, "value": value, "old": old}


def _members(path: str, before: Mapping[str, Any], after: Mapping[str, Any]) -> Iterator[Operation]:
    for name in {**before, **after}:
        member_path = f"{path}/{name.replace('~', '~0').replace('/', '~1')}"
        if name not in after:
            yield {"op": "remove", "path": member_path, "old": before[name]}
        elif name not in before:
            yield {"op": "add", "path": member_path, "value": after[name]}
        elif before[name] != after[name]:
            yield _replace(member_path, before[name], after[name])


def _hours(before: Any, after: Any) -> Iterator[Operation]:
    was, now = _public_hours(before), _public_hours(after)
    for name in HOURS:
        if was[name] != now[name]:
            yield _replace(f"/hours/{name}", was[name], now[name])
    if was["timezone"] and now["timezone"] and was["timezone"] != now["timezone"]:
        yield _replace("/hours/timezone", was["timezone"], now["timezone"])


def _public_hours(hours: Any) -> dict[str, Any]:
    stated = hours if isinstance(hours, Mapping) else {}
    return {**{name: stated.get(name, nothing) for name, nothing in HOURS.items()}, "timezone": stated.get("timezone")}


def _place(patch: Mapping[str, Any]) -> Iterator[Operation]:
    moved = {name: patch[column] for name, column in zip(("lat", "lng"), PLACE, strict=True) if column in patch}
    if len(moved) == len(PLACE):
        was = {name: pair[0] for name, pair in moved.items()}
        now = {name: pair[1] for name, pair in moved.items()}
        yield _replace("/location", *(None if None in place.values() else place for place in (was, now)))
        return
    for name, (before, after) in moved.items():
        yield _replace(f"/location/{name}", before, after)
