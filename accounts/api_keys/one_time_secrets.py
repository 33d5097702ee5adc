"""Secrets that a page shows once, after the POST that created them.

They are stored in the session, encrypted, so never in a URL, a cookie or a message, and expire after ten minutes.
"""

from datetime import datetime, timedelta

from django.contrib.sessions.models import Session
from django.db import transaction
from django.http import HttpRequest

from framework.encryption import CannotDecrypt, decrypt, encrypt

PURPOSE = "secrets that are shown once"
LIFETIME = timedelta(minutes=10)
SESSION_KEY = "one_time_secrets"


def store(request: HttpRequest, secret: str, *, of: str, now: datetime) -> None:
    """Store the secret of the object with the public id `of`, for the next page of this session."""
    request.session[SESSION_KEY] = _list_secrets(request, now) | {
        of: [encrypt(secret, purpose=PURPOSE), now.timestamp()]
    }


def take(request: HttpRequest, *, of: str, now: datetime) -> str | None:
    """Return the secret and delete it; None if there is none or it was taken.

    Of two concurrent requests, one gets it: the session's row is locked.
    """
    if SESSION_KEY not in request.session:
        return None
    with transaction.atomic():
        if not Session.objects.select_for_update().filter(pk=request.session.session_key).exists():
            return None
        # Read the session again: another request may have changed it before the lock was acquired.
        request.session = type(request.session)(request.session.session_key)
        secrets = _list_secrets(request, now)
        encrypted, _ = secrets.pop(of, (None, 0.0))
        if secrets:
            request.session[SESSION_KEY] = secrets
        else:
            request.session.pop(SESSION_KEY, None)
        request.session.save()
    try:
        return decrypt(str(encrypted), purpose=PURPOSE) if encrypted is not None else None
    except CannotDecrypt:
        return None


def _list_secrets(request: HttpRequest, now: datetime) -> dict[str, list[str | float]]:
    oldest = (now - LIFETIME).timestamp()
    stored = request.session.get(SESSION_KEY, {})
    return {of: [encrypted, stored_at] for of, (encrypted, stored_at) in stored.items() if stored_at > oldest}
