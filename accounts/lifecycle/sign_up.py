"""Sign-up: an account with its first venue, a sandbox and a first API key; and later venues."""

from django.db import transaction
from django.utils.translation import gettext as _

from accounts.models import Account, ApiKey, Membership, Role, User, Venue
from accounts.models.api_keys import CreatedApiKey
from framework.errors import InvalidRequest
from framework.languages import language_of_country
from framework.phone_numbers import country_of_zone

# Leaves room for " (sandbox)" in the column.
MAX_NAME_LENGTH = 190
# Of one account. Larger chains contact us: lists of venues are shown whole.
MAX_VENUES = 200


class TooManyVenues(InvalidRequest):
    """The account has MAX_VENUES venues."""


def create_account(user: User, *, name: str, timezone: str, currency: str) -> CreatedApiKey:
    """Make the user the owner of a new account with a venue of this name and a sandbox.

    Returns the first key, of the sandbox, which is also the venue that the dashboard opens. The sandbox has no menu
    and no tables, so the examples of the API documentation work with it.
    """
    with transaction.atomic():
        account = Account.objects.create(name=name)
        Membership.objects.create(account=account, user=user, role=Role.OWNER)
        language = language_of_country(country_of_zone(timezone))
        settings = {"timezone": timezone, "currency": currency, "language": language}
        Venue.objects.create(account=account, name=name, **settings)
        sandbox = Venue.objects.create(
            account=account, name=f"{name[:MAX_NAME_LENGTH]} (sandbox)", is_sandbox=True, **settings
        )
        user.remember_venue(sandbox)
        return ApiKey.create(sandbox, name="First key")


def add_venue(account: Account, *, name: str, timezone: str, currency: str, is_sandbox: bool) -> Venue:
    """Add a venue to an account. Raises TooManyVenues."""
    with transaction.atomic():
        locked = Account.objects.select_for_update(no_key=True).get(pk=account.pk)
        if locked.venues.count() >= MAX_VENUES:
            message = _("An account can have at most %(number)s restaurants. Contact us if you need more.")
            raise TooManyVenues(message % {"number": MAX_VENUES})
        return Venue.objects.create(
            account=locked,
            name=name,
            timezone=timezone,
            currency=currency,
            language=language_of_country(country_of_zone(timezone)),
            is_sandbox=is_sandbox,
        )
