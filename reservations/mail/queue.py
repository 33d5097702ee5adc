"""Sends the mail to guests: claims what is due, and hands it to the mail server outside of any transaction.

A worker that is killed after the server took a mail and before that is written down sends it again: at least once.
Both have the same Message-ID.
"""

import logging
import smtplib
from contextlib import suppress
from datetime import datetime, timedelta
from typing import Any

from django.core import mail
from django.core.mail.backends.base import BaseEmailBackend
from django.db import connection

from reservations.booking import waitlist
from reservations.mail import templates
from reservations.models import Notice, Reservation
from reservations.notifications import is_mailed

logger = logging.getLogger("tablewire.worker")

Kind, State, Status = Notice.Kind, Notice.State, Reservation.Status
# Longer than a task may run (CELERY_TASK_TIME_LIMIT), so that nobody else sends what is still being sent.
LEASE = timedelta(seconds=150)
# After each failed try; when they are used up, nearly a day later, the mail is given up.
PAUSES = (
    timedelta(minutes=1),
    timedelta(minutes=5),
    timedelta(minutes=15),
    timedelta(hours=1),
    timedelta(hours=3),
    timedelta(hours=6),
    timedelta(hours=12),
)
TRIES = len(PAUSES) + 1
PRINTED = "django.core.mail.backends.console.EmailBackend"
# What one task sends at most.
AT_ONCE = 20
# The number of tries is the fencing token: who was taken for dead finishes nothing any more.
CLAIM = """
    UPDATE reservations_notice SET leased_until = %(until)s, tries = tries + 1
    WHERE id = (
        SELECT id FROM reservations_notice
        WHERE state = 'pending' AND next_try_at <= %(now)s AND (leased_until IS NULL OR leased_until <= %(now)s)
        ORDER BY next_try_at LIMIT 1 FOR UPDATE SKIP LOCKED
    )
    RETURNING id
"""


def send_due(*, now: datetime, at_most: int = AT_ONCE) -> bool:
    """Send the mail that is due, over one connection; say whether there may be more.

    Call it outside of transactions. Four queries a mail. When the mail server is away it stops at once.
    """
    post, log = mail.get_connection(), mail.get_connection(PRINTED)
    try:
        for _ in range(at_most):
            notice = claim(now=now)
            if notice is None or not send(notice, log if is_printed(notice) else post, now=now):
                return False
        return True
    finally:
        hang_up(post)


def is_printed(notice: Notice) -> bool:
    """Whether it goes to the worker's log and nowhere else: who tries us out makes up addresses, which may be real."""
    return notice.reservation.venue.is_sandbox


def claim(*, now: datetime) -> Notice | None:
    """Take the notice that has waited longest, with its reservation and venue; None when nothing is due."""
    with connection.cursor() as cursor:
        cursor.execute(CLAIM, {"now": now, "until": now + LEASE})
        row = cursor.fetchone()
    return Notice.objects.select_related("reservation__venue").get(pk=row[0]) if row else None


def send(notice: Notice, post: BaseEmailBackend, *, now: datetime) -> bool:
    """Send a claimed notice, or write down why not; say whether the server can be asked for the next one."""
    if not is_true(notice, now=now):
        finish(notice, state=State.DROPPED)
        return True
    if notice.tries > TRIES:
        finish(notice, state=State.FAILED, last_error="Workers died while they sent this.")
        return True
    try:
        letter = templates.write(notice)
        post.open()
        post.send_messages([letter])
    # smtplib's errors are kinds of OSError too.
    except OSError as error:
        hang_up(post)
        put_off(notice, error, now=now)
        return isinstance(error, smtplib.SMTPResponseException | smtplib.SMTPRecipientsRefused)
    # Whatever is wrong with this mail, those behind it are other guests', and it would be wrong again.
    except Exception as error:
        hang_up(post)
        logger.exception("Mail %s cannot be written or sent", notice.pk)
        finish(notice, state=State.FAILED, last_error=words_of(error))
    else:
        finish(notice, state=State.SENT, sent_at=now, last_error="")
    return True


def is_true(notice: Notice, *, now: datetime) -> bool:
    """Whether what the mail says still holds, nothing newer was written to this guest, and the party is ahead.

    A mail shows the reservation as it is when it is sent, so of several that wait the newest says it all. One query.
    """
    reservation = notice.reservation
    waits = waitlist.is_waiting(reservation)
    holds = {
        Kind.CONFIRMED: reservation.status == Status.CONFIRMED,
        Kind.REQUESTED: reservation.status == Status.PENDING and not waits and reservation.prove_by is None,
        Kind.WAITLISTED: waits,
        Kind.PROOF: reservation.prove_by is not None and reservation.prove_by > now,
        Kind.OFFERED: waitlist.is_held(reservation, now=now),
        Kind.CANCELLED: reservation.status == Status.CANCELLED,
        Kind.MOVED: reservation.status != Status.CANCELLED,
        Kind.REMINDER: reservation.status == Status.CONFIRMED,
    }[Kind(notice.kind)]
    return holds and is_mailed(reservation, notice.kind, now=now) and not newer_than(notice)


def newer_than(notice: Notice) -> bool:
    """Whether another mail to the same guest was written after this one, and is sent or on its way."""
    newer = Notice.objects.filter(reservation_id=notice.reservation_id, pk__gt=notice.pk)
    return newer.filter(state__in=[State.PENDING, State.SENT]).exists()


def put_off(notice: Notice, error: OSError, *, now: datetime) -> None:
    """Try again later, or give up: after the last try, or when the server says that it will never take it."""
    reason = words_of(error)
    logger.warning("Mail %s was not sent, try %d of %d: %s", notice.pk, notice.tries, TRIES, reason)
    if notice.tries >= TRIES or is_final(error):
        finish(notice, state=State.FAILED, last_error=reason)
    else:
        finish(notice, next_try_at=now + PAUSES[notice.tries - 1], last_error=reason)


def is_final(error: OSError) -> bool:
    """Whether the server said for good that it does not take this mail, or any for this address.

    That is 5xx (RFC 5321, section 4.2.1). What it says of us, the sender, staff can mend: that is tried again.
    """
    if isinstance(error, smtplib.SMTPRecipientsRefused):
        return all(code >= 500 for code, _ in error.recipients.values())
    return isinstance(error, smtplib.SMTPDataError) and error.smtp_code >= 500


def words_of(error: Exception) -> str:
    """Why it was not sent, in one line of at most 300 characters."""
    said: Any = str(error)
    if isinstance(error, smtplib.SMTPRecipientsRefused):
        said = " ".join(f"{code} {text!r}" for code, text in error.recipients.values())
    elif isinstance(error, smtplib.SMTPResponseException):
        said = f"{error.smtp_code} {error.smtp_error!r}"
    return templates.one_line(f"{type(error).__name__}: {said}")[:300]


def finish(notice: Notice, **changes: Any) -> None:
    """Write down what came of this try, unless the notice has gone to another worker."""
    Notice.objects.filter(pk=notice.pk, state=State.PENDING, tries=notice.tries).update(leased_until=None, **changes)


def hang_up(post: BaseEmailBackend) -> None:
    """Close the connection, whatever state it is in."""
    with suppress(OSError):
        post.close()
