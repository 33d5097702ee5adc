"""Keys that people make for themselves, on the dashboard."""

from collections.abc import Sequence
from datetime import datetime

from django.db import transaction

from accounts.models import ApiKey, IssuedKey, Venue
from framework.errors import InvalidRequest

# Each key has an allowance of its own: so many of them are as much as a venue may have.
MOST = 20


class TooManyKeys(InvalidRequest):
    """The venue has as many keys as it may."""


class IsOver(InvalidRequest):
    """The end of a new key is not in the future."""


def issue(venue: Venue, *, name: str, scopes: Sequence[str], expires_at: datetime | None, now: datetime) -> IssuedKey:
    """Make a key of the venue, with the allowance that everybody has.

    Of two at once the second waits for the first. Raises TooManyKeys, IsOver.
    """
    if expires_at is not None and expires_at <= now:
        raise IsOver("This day is in the past: choose a later one.", param="expires_at")
    with transaction.atomic():
        Venue.objects.select_for_update().get(pk=venue.pk)
        if ApiKey.objects.filter(venue=venue).usable(now).values("family").distinct().count() >= MOST:
            raise TooManyKeys(f"A restaurant can have at most {MOST} active API keys. Revoke one that is not in use.")
        return ApiKey.issue(venue, name=name, scopes=scopes, expires_at=expires_at)
