"""Django's sessions in the database (SESSION_ENGINE)."""

from django.contrib.sessions.backends import db
from django.contrib.sessions.backends.base import UpdateError
from django.db import InterfaceError, OperationalError


class SessionStore(db.SessionStore):
    """Sessions that tell a database that is slow or away from a session that was deleted meanwhile.

    Django takes every error of an update for the latter, and answers 400.
    """

    def save(self, must_create: bool = False) -> None:
        """Store the session. Raises OperationalError, InterfaceError and UpdateError."""
        try:
            super().save(must_create)
        except UpdateError as error:
            if isinstance(error.__context__, OperationalError | InterfaceError):
                raise error.__context__ from None
            raise
