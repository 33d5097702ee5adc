"""How a newcomer begins: an account, its first venue, one to try things out in, and a first key."""

from django.db import transaction

from accounts.models import Account, ApiKey, IssuedKey, Membership, Role, User, Venue
from framework.errors import InvalidRequest

# The longest name that leaves room for what is said beside it.
NAME_LENGTH = 190
# Of one account. A chain with more writes to us: lists of venues are shown whole.
VENUES = 200


class TooManyVenues(InvalidRequest):
    """The account has as many as it may have."""


def found(user: User, *, name: str, timezone: str, currency: str) -> IssuedKey:
    """Make the user the owner of a new account with a venue of this name, and a sandbox beside it.

    Returns the first key, shown this once. It is of the sandbox, which has neither menu nor tables: whatever is
    ordered or reserved with it by the words of the API's description is taken.
    """
    with transaction.atomic():
        account = Account.objects.create(name=name)
        Membership.objects.create(account=account, user=user, role=Role.OWNER)
        Venue.objects.create(account=account, name=name, timezone=timezone, currency=currency)
        sandbox = Venue.objects.create(
            account=account,
            name=f"{name[:NAME_LENGTH]} (sandbox)",
            timezone=timezone,
            currency=currency,
            is_sandbox=True,
        )
        return ApiKey.issue(sandbox, name="First key")


def first_venue(user: User) -> Venue | None:
    """Where a newcomer begins to try things out: the sandbox of what they founded, None where they work nowhere."""
    return Venue.objects.worked_at_by(user).order_by("-is_sandbox", "created_at", "id").first()


def rename(account: Account, *, name: str) -> None:
    """Give the account another name; its venues keep theirs."""
    Account.objects.filter(pk=account.pk).update(name=name)


def add_venue(account: Account, *, name: str, timezone: str, currency: str, is_sandbox: bool) -> Venue:
    """Add a restaurant to an account. Raises TooManyVenues."""
    with transaction.atomic():
        held = Account.objects.select_for_update(no_key=True).get(pk=account.pk)
        if held.venues.count() >= VENUES:
            raise TooManyVenues(f"An account can have at most {VENUES} restaurants. Contact us if you need more.")
        return Venue.objects.create(
            account=held, name=name, timezone=timezone, currency=currency, is_sandbox=is_sandbox
        )
