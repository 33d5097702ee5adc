"""How a newcomer begins: an account, its first venue, one to try things out in, and a first key."""

from django.db import transaction

from accounts.models import Account, ApiKey, IssuedKey, Membership, Role, User, Venue


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
            account=account, name=f"{name[:190]} (sandbox)", timezone=timezone, currency=currency, is_sandbox=True
        )
        return ApiKey.issue(sandbox, name="First key")
