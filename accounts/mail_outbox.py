"""Mail to people who sign in: written down at once, sent by a worker.

A letter is a row, so that a broker or a mail server that is away for a while loses none.
"""

import logging
import time
from datetime import datetime, timedelta

from django.core.mail import EmailMessage
from django.db import connection, transaction
from django.utils import timezone

from accounts.models import Letter
from framework.encryption import CannotDecrypt, decrypt, encrypt

logger = logging.getLogger("tablewire.worker")

PURPOSE = "letters"
# Whoever has claimed a letter has sent it by then, or has died. A mail server answers within EMAIL_TIMEOUT.
CLAIMED = timedelta(minutes=2)
TRIED = timedelta(days=1)
# A run ends after a while and the next goes on.
RUN_S = 45.0

# One statement: of two workers each gets another letter.
CLAIM = """
    UPDATE accounts_letter SET next_try_at = %(until)s
    WHERE id = (
        SELECT id FROM accounts_letter WHERE next_try_at <= %(now)s
        ORDER BY next_try_at, id LIMIT 1 FOR UPDATE SKIP LOCKED
    )
    RETURNING id
"""


def write(*, address: str, subject: str, text: str, now: datetime) -> None:
    """Store a mail to be sent after the commit; call it in the transaction of what it tells of."""
    from accounts.tasks.mail import enqueue_mail  # the tasks import this module

    subject = " ".join(subject.split())[:300]
    encrypted = encrypt(text, purpose=PURPOSE)
    Letter.objects.create(address=address, subject=subject, text=encrypted, created_at=now, next_try_at=now)
    transaction.on_commit(enqueue_mail)


def post() -> int:
    """Send the mail that is due; return how much was. What is refused is tried again for a day.

    Who dies between a mail and the deletion of its row sends it again.
    """
    until, sent = time.monotonic() + RUN_S, 0
    while time.monotonic() < until and (letter := claim(now=timezone.now())):
        sent += deliver(letter, now=timezone.now())
    return sent


def claim(*, now: datetime) -> Letter | None:
    """The letter that has waited longest, kept from others for a while."""
    with connection.cursor() as cursor:
        cursor.execute(CLAIM, {"now": now, "until": now + CLAIMED})
        row = cursor.fetchone()
    return Letter.objects.get(pk=row[0]) if row else None


def deliver(letter: Letter, *, now: datetime) -> bool:
    """Send one letter that was claimed; whether that went well."""
    try:
        text = decrypt(letter.text, purpose=PURPOSE)
        # The same each time that it is sent: mail programs show a mail that came twice once.
        headers = {"Message-ID": f"<{letter.pk.hex}@tablewire>", "Auto-Submitted": "auto-generated"}
        EmailMessage(letter.subject, text, to=[letter.address], headers=headers).send()
    except (OSError, ValueError, CannotDecrypt) as error:
        logger.warning("Letter %s could not be sent: %s", letter.pk, type(error).__name__)
        if isinstance(error, OSError) and letter.created_at > now - TRIED:
            return False
    letter.delete()
    return True
