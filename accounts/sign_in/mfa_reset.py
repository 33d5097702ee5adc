"""Reset of lost second factors by staff: the user signs in with the password only again."""

from datetime import datetime

from allauth.mfa.models import Authenticator
from django.db import transaction

from accounts import mail_outbox
from accounts.models import User

TYPE_LABELS = {
    Authenticator.Type.TOTP: "authenticator app",
    Authenticator.Type.WEBAUTHN: "passkey",
    Authenticator.Type.RECOVERY_CODES: "recovery codes",
}


def list_authenticators(user: User) -> list[str]:
    """Return the types of the user's second factors with their dates, oldest first. One query."""
    rows = Authenticator.objects.filter(user=user).order_by("created_at", "pk").values_list("type", "created_at")
    return [f"{TYPE_LABELS.get(kind, kind)}, since {at:%Y-%m-%d}" for kind, at in rows]


def remove_authenticators(user: User, *, now: datetime) -> bool:
    """Delete all second factors and notify the user by mail; return whether there was any."""
    with transaction.atomic():
        had_any: bool = Authenticator.objects.filter(user=user).delete()[0] > 0
        if had_any:
            mail_outbox.enqueue("accounts/mail/second_factor_removed", {}, address=user.email, now=now)
    return had_any
