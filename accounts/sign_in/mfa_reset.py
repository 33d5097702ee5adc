"""Second factors that people have lost: told of, and taken away so that the password alone signs in again."""

from datetime import datetime

from allauth.mfa.models import Authenticator
from django.conf import settings
from django.db import transaction

from accounts import mail_outbox
from accounts.models import User

# The labels of the kinds; the secrets are never shown.
KINDS = {
    Authenticator.Type.TOTP: "authenticator app",
    Authenticator.Type.WEBAUTHN: "passkey",
    Authenticator.Type.RECOVERY_CODES: "recovery codes",
}
SUBJECT = "Two-factor authentication was removed"
TEXT = """Hello,

our support team removed two-factor authentication from your account, because it was reported lost. You now sign in
with your password only. Set up two-factor authentication again: {site}/account/2fa/

If you did not request this, reset your password now: {site}/account/password/reset/

Tablewire, {site}
"""


def told(user: User) -> list[str]:
    """What the user has set up, with the day of each, oldest first. One query."""
    rows = Authenticator.objects.filter(user=user).order_by("created_at", "pk").values_list("type", "created_at")
    return [f"{KINDS.get(kind, kind)}, since {at:%Y-%m-%d}" for kind, at in rows]


def remove(user: User, *, now: datetime) -> bool:
    """Take all second factors away, and tell the person by mail; whether there was any."""
    with transaction.atomic():
        had_one: bool = Authenticator.objects.filter(user=user).delete()[0] > 0
        if had_one:
            mail_outbox.write(
                address=user.email, subject=SUBJECT, text=TEXT.format(site=settings.PUBLIC_BASE_URL), now=now
            )
    return had_one
