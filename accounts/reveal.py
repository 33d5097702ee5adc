"""Secrets that a page shows once: from the POST that makes one to the page that its browser is sent to.

They wait in the session, encrypted, so never in an address, a cookie or a message; what is not looked at within ten
minutes is gone.
"""

from datetime import datetime, timedelta

from django.http import HttpRequest

from accounts.sealing import CannotOpen, seal, unseal

PURPOSE = "secrets that are shown once"
KEPT = timedelta(minutes=10)
NAME = "reveals"


def keep(request: HttpRequest, secret: str, *, of: str, now: datetime) -> None:
    """Have the secret wait for this browser's next page about `of`, the public id of what it belongs to."""
    request.session[NAME] = _waiting(request, now) | {of: [seal(secret, purpose=PURPOSE), now.timestamp()]}


def take(request: HttpRequest, *, of: str, now: datetime) -> str | None:
    """The secret that waits, which waits no more; None where there is none, or it has been shown."""
    if NAME not in request.session:
        return None
    waiting = _waiting(request, now)
    sealed, _ = waiting.pop(of, (None, 0.0))
    if waiting:
        request.session[NAME] = waiting
    else:
        del request.session[NAME]
    if sealed is None:
        return None
    try:
        return unseal(str(sealed), purpose=PURPOSE)
    except CannotOpen:
        return None


def _waiting(request: HttpRequest, now: datetime) -> dict[str, list[str | float]]:
    oldest = (now - KEPT).timestamp()
    waiting = request.session.get(NAME, {})
    return {of: [sealed, moment] for of, (sealed, moment) in waiting.items() if moment > oldest}
