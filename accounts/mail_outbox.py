"""The outbox of mail to users: stored in the transaction that causes it, sent by a worker.

At-least-once: a worker that crashes after sending and before deleting the row sends the mail twice.
"""

import logging
import time
from collections.abc import Mapping
from datetime import datetime, timedelta
from typing import Any

from django.conf import settings
from django.core.mail import EmailMessage
from django.db import transaction
from django.db.models import Q
from django.template.loader import render_to_string
from django.utils import timezone, translation

from accounts.models import OutgoingMail, User
from framework.api.rate_limits import counter
from framework.encryption import CannotDecrypt, decrypt, encrypt

logger = logging.getLogger("tablewire.worker")

PURPOSE = "outgoing mail"
# A worker that has not sent a mail by then has crashed: EMAIL_TIMEOUT is shorter.
LEASE = timedelta(minutes=2)
RETRY_PERIOD = timedelta(days=1)
# A run ends after this time; the next one continues.
RUN_S = 45.0
DAY_S = 86_400
# Mails a day about sign-up, addresses and passwords to one address: anybody can cause them. The links in earlier ones
# still work.
MAX_ACCOUNT_MAILS = 10


def is_within_limit(policy: str, value: str, *, limit: int) -> bool:
    """Count one more mail of this day for an address or an account; return whether the limit allows it."""
    return counter.count(f"mail-{policy}", counter.hash_bucket(value), window_s=DAY_S).count <= limit


def enqueue(template: str, context: Mapping[str, Any], *, address: str, now: datetime, topic: str = "") -> None:
    """Store a mail that is sent after the commit. Call it inside the transaction that the mail is about.

    Renders `{template}_subject.txt` and `{template}_message.txt` with the context and `site`, our base URL, in the
    language that the user of the address has chosen, else in the current one.
    """
    from accounts.tasks import enqueue_mail  # the tasks import this module

    context = {"site": settings.PUBLIC_BASE_URL, **context}
    chosen = User.objects.filter(email=address.lower()).exclude(language="").values_list("language", flat=True)
    with translation.override(chosen.first() or translation.get_language()):
        text = render_to_string(f"{template}_message.txt", context).strip() + "\n"
        subject = " ".join(render_to_string(f"{template}_subject.txt", context).split())[:300]
    OutgoingMail.objects.create(
        address=address,
        subject=subject,
        text=encrypt(text, purpose=PURPOSE),
        topic=topic,
        created_at=now,
        next_attempt_at=now,
    )
    transaction.on_commit(enqueue_mail)


def cancel(topic: str) -> None:
    """Delete the unsent mail about this topic."""
    OutgoingMail.objects.filter(topic=topic).delete()


def send_due() -> int:
    """Send the mail that is due; return how many were sent. A mail that fails is retried for RETRY_PERIOD."""
    until, sent = time.monotonic() + RUN_S, 0
    while time.monotonic() < until and (mail := claim_next(now=timezone.now())):
        sent += send(mail, now=timezone.now())
    return sent


def claim_next(*, now: datetime) -> OutgoingMail | None:
    """Lease the mail that has been due for the longest time; None if no mail is due."""
    # No lease ends so late, unless it or the mail was stored while the clock was ahead.
    is_due = Q(next_attempt_at__lte=now) | Q(next_attempt_at__gt=now + 2 * LEASE)
    due = OutgoingMail.objects.filter(is_due).order_by("next_attempt_at", "pk")
    with transaction.atomic():
        mail = due.select_for_update(skip_locked=True).first()
        if mail:
            mail.next_attempt_at = now + LEASE
            mail.save(update_fields=["next_attempt_at"])
    return mail


def send(mail: OutgoingMail, *, now: datetime) -> bool:
    """Send a leased mail; return whether it was sent or given up, and so deleted."""
    try:
        text = decrypt(mail.text, purpose=PURPOSE)
        # The same id on each attempt: mail programs show a mail that arrived twice only once.
        headers = {"Message-ID": f"<{mail.pk.hex}@tablewire>", "Auto-Submitted": "auto-generated"}
        EmailMessage(mail.subject, text, to=[mail.address], headers=headers).send()
    except (OSError, ValueError, CannotDecrypt) as error:
        logger.warning("Mail %s could not be sent: %s", mail.pk, type(error).__name__)
        if isinstance(error, OSError) and mail.created_at > now - RETRY_PERIOD:
            return False
    mail.delete()
    return True
