"""`manage.py remove_invisible_text`: clean texts that were stored before they were cleaned on entry."""

import re
from datetime import datetime
from typing import Any

from django.core.management.base import BaseCommand
from django.db import IntegrityError, models, transaction
from django.utils import timezone

from catalogue.history import publish
from catalogue.models import Cuisine, Landmark, LandmarkName, Photo, Restaurant, Review
from catalogue.places.rename import rename
from catalogue.places.slugs import allocate_slugs, slugify
from framework.invisible_text import remove_invisible_in

COLUMNS: dict[type[models.Model], tuple[str, ...]] = {
    Restaurant: ("name", "alt_names", "neighborhood", "line1", "locality", "region"),
    Review: ("author", "text", "owner_reply"),
    Photo: ("caption", "alt", "author"),
    Landmark: ("name",),
    LandmarkName: ("name",),
    Cuisine: ("label",),
}


class Command(BaseCommand):
    help = (
        "Remove invisible characters from stored texts and from slugs made of them; running it again changes nothing."
    )

    def handle(self, *_: Any, **options: Any) -> None:
        for model, columns in COLUMNS.items():
            cleaned = sum(
                _clean_row(model, row)
                for row in model._default_manager.order_by("pk").values("pk", *columns).iterator()
            )
            self.stdout.write(f"{model._meta.verbose_name_plural}: {cleaned} cleaned")


def _clean_row(model: type[models.Model], row: dict[str, Any]) -> bool:
    """Clean a row, unless a text that is required would be empty; return whether it has changed."""
    changed = {name: value for name, value in remove_invisible_in(row).items() if value != row[name]}
    if not changed or changed.get("name") == "":
        return False
    now = timezone.now()
    if model is Restaurant:
        changed["updated_at"] = now
    try:
        with transaction.atomic():
            publish.set_actor("system")
            model._default_manager.filter(**row).update(**changed)
    except IntegrityError:
        if model is not LandmarkName:
            raise
        # The landmark has the name without the invisible characters too.
        LandmarkName.objects.filter(pk=row["pk"]).delete()
    if model is Restaurant and "name" in changed:
        _clean_slug(Restaurant.objects.get(pk=row["pk"]), now=now)
    return True


def _clean_slug(restaurant: Restaurant, *, now: datetime) -> None:
    """Give a restaurant another slug if its slug is not made of its name; the former one redirects."""
    if restaurant.merged_into_id is None and restaurant.erased_at is None:
        bases = {slugify(restaurant.name), slugify(f"{restaurant.name} {restaurant.neighborhood or ''}")}
        if not bases & {restaurant.slug, re.sub(r"-\d+$", "", restaurant.slug)}:
            (slug,) = allocate_slugs([(restaurant.name, restaurant.neighborhood)])
            rename(restaurant, slug, actor="system", now=now)
