"""Reset of lost second factors by staff: the user signs in with the password only again."""

from datetime import datetime

from allauth.mfa.models import Authenticator
from django.db import transaction

from accounts import mail_outbox
from accounts.models import User


def remove_authenticators(user: User, *, now: datetime) -> bool:
    """Delete all second factors and notify the user by mail; return whether there was any."""
    with transaction.atomic():
        had_any: bool = Authenticator.objects.filter(user=user).delete()[0] > 0
        if had_any:
            mail_outbox.enqueue("accounts/mail/second_factor_removed", {}, address=user.email, now=now)
    return had_any
