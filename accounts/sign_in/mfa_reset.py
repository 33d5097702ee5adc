"""Second factors that people have lost: told of, and taken away so that the password alone signs in again."""

from datetime import datetime

from allauth.mfa.models import Authenticator
from django.conf import settings
from django.db import transaction

from accounts.models import User
from framework.mail import outbox

# What a person reads of each kind; of what it is made of nothing is told.
KINDS = {
    Authenticator.Type.TOTP: "codes of an app",
    Authenticator.Type.WEBAUTHN: "passkey",
    Authenticator.Type.RECOVERY_CODES: "recovery codes",
}
SUBJECT = "Your second factor was removed"
TEXT = """Hello,

our staff have removed the second factor of your sign-in, because somebody told us that it was lost. Your password
alone signs you in now. Set up a new one here: {site}/account/2fa/

If it was not you who asked, set a new password at once: {site}/account/password/reset/

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
            outbox.write(address=user.email, subject=SUBJECT, text=TEXT.format(site=settings.PUBLIC_BASE_URL), now=now)
    return had_one
