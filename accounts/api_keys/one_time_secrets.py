"""Secrets that a page shows once: from the POST that makes one to the page that its browser is sent to.

They wait in the session, encrypted, so never in an address, a cookie or a message; what is not looked at within ten
minutes is gone.
"""

from datetime import datetime, timedelta

from django.contrib.sessions.models import Session
from django.db import transaction
from django.http import HttpRequest

from framework.encryption import CannotDecrypt, decrypt, encrypt

PURPOSE = "secrets that are shown once"
KEPT = timedelta(minutes=10)
NAME = "reveals"


def keep(request: HttpRequest, secret: str, *, of: str, now: datetime) -> None:
    """Have the secret wait for this browser's next page about `of`, the public id of what it belongs to."""
    request.session[NAME] = _waiting(request, now) | {of: [encrypt(secret, purpose=PURPOSE), now.timestamp()]}


def take(request: HttpRequest, *, of: str, now: datetime) -> str | None:
    """The secret that waits, which waits no more; None where there is none, or it has been shown.

    Of two tabs that ask at once, one gets it: the session's row is held meanwhile.
    """
    if NAME not in request.session:
        return None
    with transaction.atomic():
        if not Session.objects.select_for_update().filter(pk=request.session.session_key).exists():
            return None
        # As it is now that nobody else writes it, not as it was when this request began.
        request.session = type(request.session)(request.session.session_key)
        encrypted = _taken(request, of=of, now=now)
        request.session.save()
    try:
        return decrypt(encrypted, purpose=PURPOSE) if encrypted is not None else None
    except CannotDecrypt:
        return None


def _taken(request: HttpRequest, *, of: str, now: datetime) -> str | None:
    waiting = _waiting(request, now)
    encrypted, _ = waiting.pop(of, (None, 0.0))
    if waiting:
        request.session[NAME] = waiting
    else:
        request.session.pop(NAME, None)
    return None if encrypted is None else str(encrypted)


def _waiting(request: HttpRequest, now: datetime) -> dict[str, list[str | float]]:
    oldest = (now - KEPT).timestamp()
    waiting = request.session.get(NAME, {})
    return {of: [encrypted, moment] for of, (encrypted, moment) in waiting.items() if moment > oldest}
