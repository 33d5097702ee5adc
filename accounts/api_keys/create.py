"""Creation of API keys on the dashboard, within the limit of a venue."""

from collections.abc import Sequence
from datetime import datetime

from django.db import transaction
from django.utils.translation import gettext as _

from accounts.models import ApiKey, Venue
from accounts.models.api_keys import CreatedApiKey
from framework.errors import InvalidRequest

# Each key family has a rate limit of its own, so this bounds the rate of a venue.
MAX_KEYS = 20


class TooManyApiKeys(InvalidRequest):
    """The venue has MAX_KEYS active keys."""


class ExpiryInPast(InvalidRequest):
    """The expiry of a new key is not in the future."""


def create_api_key(
    venue: Venue,
    *,
    name: str,
    scopes: Sequence[str],
    expires_at: datetime | None,
    has_data_access: bool,
    now: datetime,
) -> CreatedApiKey:
    """Create a key of the venue. `has_data_access`: whether who creates it may use the data service.

    Locks the venue's row. Raises TooManyApiKeys, ExpiryInPast."""
    if expires_at is not None and expires_at <= now:
        raise ExpiryInPast(_("This day is in the past: choose a later one."), param="end_date")
    with transaction.atomic():
        Venue.objects.select_for_update().get(pk=venue.pk)
        if ApiKey.objects.issued().filter(venue=venue).active(now).values("family").distinct().count() >= MAX_KEYS:
            raise TooManyApiKeys(
                _("A restaurant can have at most %(number)s active API keys. Revoke one that is not in use.")
                % {"number": MAX_KEYS}
            )
        return ApiKey.create(venue, name=name, scopes=scopes, expires_at=expires_at, has_data_access=has_data_access)
