"""Changes the slug of a restaurant; the former slug redirects to it."""

import re
from datetime import datetime

from django.db import IntegrityError, transaction

from catalogue.history import publish
from catalogue.models import Restaurant
from catalogue.places.resolve_slug import Gone
from framework.errors import InvalidRequest

SLUG = re.compile(r"[a-z0-9]+(-[a-z0-9]+)*")
MAX_LENGTH = 120


class SlugTaken(InvalidRequest):
    """The slug is or was that of another restaurant."""


def rename(restaurant: Restaurant, slug: str, *, actor: str, now: datetime) -> None:
    """Set the slug. A former slug of the same restaurant is allowed, a slug of another one never.

    Raises SlugTaken, InvalidRequest for an invalid slug, and Gone for a restaurant that is merged or erased.
    """
    if len(slug) > MAX_LENGTH or not SLUG.fullmatch(slug):
        raise InvalidRequest("A slug is small letters and digits with hyphens between them.", param="slug")
    with transaction.atomic():
        publish.set_actor(actor)
        present = Restaurant.objects.filter(pk=restaurant.pk, merged_into=None, erased_at=None)
        try:
            with transaction.atomic():
                is_renamed = present.update(slug=slug, updated_at=now)
        except IntegrityError as error:
            raise SlugTaken(f"`{slug}` is or was another restaurant's.", param="slug") from error
    if not is_renamed:
        raise Gone("This restaurant is merged or erased.")
    restaurant.refresh_from_db()
