"""Undo a version of a restaurant: its fields get the values before it, locked against owners and imports."""

from datetime import datetime
from typing import Any

from django.db import transaction

from catalogue.history import publish
from catalogue.models import Restaurant, Version
from framework.errors import InvalidRequest

# Without the slug and what merges and erasures set, and without figures that are counted.
UNDONE = frozenset(
    {
        *("name", "alt_names", "status", "neighborhood", "line1", "locality", "region", "postal_code"),
        *("latitude", "longitude", "phone", "phone_verified_at", "website", "menu_url", "description"),
        *("price_level", "cuisine_id", "cuisines", "hours", "attributes", "external_ids"),
    }
)
# They follow from others.
FOLLOWING = frozenset({"rating", "review_count"})


class CannotUndo(InvalidRequest):
    """The version changed something that cannot be undone, or its fields have changed since."""


def undo_version(version: Version, *, actor: str, now: datetime) -> set[str]:
    """Give the fields of a version the values before it, and lock them; return the columns. Three statements.

    Raises CannotUndo.
    """
    columns = version.patch.keys() - FOLLOWING
    if not columns or not columns <= UNDONE:
        raise CannotUndo("Only changes of fields can be undone.")
    with transaction.atomic():
        restaurant = Restaurant.objects.select_for_update(of=("self",)).get(pk=version.restaurant_id)
        if restaurant.merged_into_id or restaurant.erased_at:
            raise CannotUndo("This restaurant is merged or erased.")
        for column in columns:
            before, after = (_to_python(column, value) for value in version.patch[column])
            if getattr(restaurant, column) != after:
                raise CannotUndo(f"{column} has changed again since. Undo the newer version first.")
            setattr(restaurant, column, before)
        names = {column.removesuffix("_id") for column in columns - {"phone_verified_at"}}
        restaurant.locked_fields = sorted(Restaurant.with_pairs({*restaurant.locked_fields, *names}))
        restaurant.updated_at = now
        publish.set_actor(actor)
        restaurant.save(update_fields={*columns, "locked_fields", "updated_at"})
    return set(columns)


def _to_python(column: str, value: Any) -> Any:
    return datetime.fromisoformat(value) if value and column == "phone_verified_at" else value
