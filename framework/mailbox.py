"""The mailbox of an installation without a mail server: mail is stored as .eml files in MAILBOX_DIR, and not sent.

The pages at /mailbox show it, with the links to reset passwords in it: `may_read` says to whom.
"""

import email.policy
import re
import time
from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from email.message import EmailMessage as ParsedMessage
from email.parser import BytesParser
from pathlib import Path
from typing import Any
from uuid import uuid4

from django.conf import settings
from django.core.mail import EmailMessage
from django.core.mail.backends.base import BaseEmailBackend
from django.http import HttpRequest
from django.urls import reverse
from django.utils.functional import SimpleLazyObject

from framework.local_client import is_local_client
from framework.state_directory import write_private

# The time of storage in nanoseconds, which orders the files, and a random part: workers store at the same time.
NAME = re.compile(r"(\d{20})-[0-9a-f]{32}")
MAX_MAILS = 200
RETENTION = timedelta(days=14)


@dataclass(frozen=True, slots=True)
class StoredMail:
    """A stored mail; `raw` is the whole file."""

    name: str
    raw: bytes
    message: ParsedMessage

    @property
    def stored_at(self) -> datetime:
        return stored_at(self.name)

    @property
    def sender(self) -> str:
        return str(self.message.get("From", ""))

    @property
    def recipient(self) -> str:
        return str(self.message.get("To", ""))

    @property
    def subject(self) -> str:
        return str(self.message.get("Subject", ""))

    @property
    def text(self) -> str:
        return self._part("plain")

    @property
    def html(self) -> str:
        """The HTML part, or ""."""
        return self._part("html")

    def _part(self, subtype: str) -> str:
        part = self.message.get_body((subtype,))
        return str(part.get_content()) if part else ""


class EmailBackend(BaseEmailBackend):
    """Stores mail in the mailbox. Raises OSError if it cannot be written; the outboxes then try again later."""

    def send_messages(self, email_messages: Sequence[EmailMessage]) -> int:
        for message in email_messages:
            store(message)
        delete_old()
        return len(email_messages)


def store(message: EmailMessage) -> None:
    """Write the mail to a file of its own, atomically."""
    directory().mkdir(mode=0o700, parents=True, exist_ok=True)
    name = f"{time.time_ns():020d}-{uuid4().hex}"
    write_private(directory() / f"{name}.eml", message.message().as_bytes())


def list_mails(*, recipient: str = "") -> Iterator[StoredMail]:
    """Yield the mails, newest first; with `recipient` those whose recipient contains it, in any case."""
    for name in names():
        mail = read(name)
        if mail and recipient.casefold() in mail.recipient.casefold():
            yield mail


def read(name: str) -> StoredMail | None:
    """Read a mail; None if there is none of this name, or it was deleted meanwhile."""
    if not NAME.fullmatch(name):
        return None
    try:
        raw = (directory() / f"{name}.eml").read_bytes()
    except FileNotFoundError:
        return None
    return StoredMail(name, raw, BytesParser(policy=email.policy.default).parsebytes(raw))


def delete_all() -> None:
    for name in names():
        delete(name)


def delete_old() -> None:
    """Delete the mails beyond MAX_MAILS, and those older than RETENTION."""
    oldest = datetime.now(UTC) - RETENTION
    for position, name in enumerate(names()):
        if position >= MAX_MAILS or stored_at(name) < oldest:
            delete(name)


def delete(name: str) -> None:
    with suppress(FileNotFoundError):
        (directory() / f"{name}.eml").unlink()


def names() -> list[str]:
    """The names of the mails, newest first."""
    return sorted((file.stem for file in directory().glob("*.eml") if NAME.fullmatch(file.stem)), reverse=True)


def stored_at(name: str) -> datetime:
    return datetime.fromtimestamp(int(name.partition("-")[0]) / 1e9, UTC)


def directory() -> Path:
    return Path(settings.MAILBOX_DIR)


def may_read(request: HttpRequest) -> bool:
    """Whether there is a mailbox that this visitor may read: clients on this machine, and superusers."""
    return bool(settings.MAILBOX_DIR) and (is_local_client(request) or is_superuser(request))


def is_superuser(request: HttpRequest) -> bool:
    return request.user.is_active and request.user.is_superuser


def mailbox_link(request: HttpRequest) -> dict[str, Any]:
    """Template context: `mailbox_url`, empty for visitors who may not read a mailbox. Lazy: it may query the user."""
    return {"mailbox_url": SimpleLazyObject(lambda: reverse("mailbox") if may_read(request) else "")}
