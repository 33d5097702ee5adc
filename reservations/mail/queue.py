"""Queues reminders, and sends the queued mail to guests: claims what is due, and sends it outside of transactions.

At-least-once: a worker that crashes after sending and before storing the result sends the mail twice, with the same
Message-ID.
"""

import logging
import smtplib
from contextlib import suppress
from datetime import datetime, timedelta
from typing import Any
from uuid import UUID

from django.conf import settings
from django.core import mail as django_mail
from django.core.mail.backends.base import BaseEmailBackend
from django.db import connection, transaction
from django.db.models import Q

from accounts.models import on_clock_of
from framework.db.sql_files import read_sql
from reservations.booking import waitlist
from reservations.mail import templates
from reservations.models import GuestMail, Reservation
from reservations.notifications import can_email, enqueue_guest_mail
from reservations.self_service.calendar_file import one_line

logger = logging.getLogger("tablewire.worker")

Kind, State, Status = GuestMail.Kind, GuestMail.State, Reservation.Status
# Longer than a task may run (CELERY_TASK_TIME_LIMIT).
LEASE = timedelta(seconds=150)
# After each failed attempt. After the last attempt, nearly a day later, the mail has failed.
RETRY_DELAYS = tuple(timedelta(minutes=minutes) for minutes in (1, 5, 15, 60, 180, 360, 720))
MAX_ATTEMPTS = len(RETRY_DELAYS) + 1
# Mails per task.
BATCH_SIZE = 20


def send_due(*, now: datetime, venue: UUID | None = None, limit: int = BATCH_SIZE) -> bool:
    """Send due mail over one connection, and return whether more may be due. Four queries for each mail.

    That of this venue, or of all without a clock of their own.

    Call it outside of transactions. If the mail server is unavailable it returns False at once.
    """
    regular, sandbox = django_mail.get_connection(), django_mail.get_connection(settings.SANDBOX_EMAIL_BACKEND)
    try:
        for _ in range(limit):
            mail = claim(now=now, venue=venue)
            if mail is None:
                return False
            backend = sandbox if mail.reservation.venue.is_sandbox else regular
            if not send(mail, backend, now=now):
                return False
        return True
    finally:
        close(regular)


def requeue_ahead(*, now: datetime) -> int:
    """Make mail due that was stored or leased while the clock was ahead; return how many. One query.

    Not that of venues with a clock of their own.
    """
    is_too_late = Q(next_attempt_at__gt=now + 2 * RETRY_DELAYS[-1]) | Q(leased_until__gt=now + 2 * LEASE)
    ahead = GuestMail.objects.filter(is_too_late, on_clock_of(None, path="reservation__venue"), state=State.PENDING)
    return ahead.update(next_attempt_at=now, leased_until=None)


def claim(*, now: datetime, venue: UUID | None = None) -> GuestMail | None:
    """Lease the mail that has been due longest, with its reservation and venue; None if nothing is due."""
    with connection.cursor() as cursor:
        cursor.execute(
            read_sql("reservations", "claim_guest_mail"), {"now": now, "until": now + LEASE, "venue": venue}
        )
        row = cursor.fetchone()
    loaded = ("reservation__venue__branding", "reservation__area", "reservation__agreed_terms")
    return GuestMail.objects.select_related(*loaded).get(pk=row[0]) if row else None


def send(mail: GuestMail, backend: BaseEmailBackend, *, now: datetime) -> bool:
    """Send a claimed mail and store the result; return whether the server can take the next one."""
    if not is_current(mail, now=now):
        store_result(mail, state=State.DROPPED)
        return True
    if mail.attempts > MAX_ATTEMPTS:
        store_result(mail, state=State.FAILED, last_error="Workers died while they sent this.")
        return True
    try:
        message = templates.build_mail(mail)
        backend.open()
        backend.send_messages([message])
    # smtplib's errors are kinds of OSError too.
    except OSError as error:
        close(backend)
        reason = describe_error(error)
        logger.warning("Mail %s was not sent, attempt %d of %d: %s", mail.pk, mail.attempts, MAX_ATTEMPTS, reason)
        if mail.attempts >= MAX_ATTEMPTS or is_permanent(error):
            store_result(mail, state=State.FAILED, last_error=reason)
        else:
            store_result(mail, next_attempt_at=now + RETRY_DELAYS[mail.attempts - 1], last_error=reason)
        return isinstance(error, smtplib.SMTPResponseException | smtplib.SMTPRecipientsRefused)
    # A defect of this mail would repeat, and must not block the mail of other guests.
    except Exception as error:
        close(backend)
        logger.exception("Mail %s cannot be built or sent", mail.pk)
        store_result(mail, state=State.FAILED, last_error=describe_error(error))
    else:
        store_result(mail, state=State.SENT, sent_at=now, last_error="")
    return True


def is_current(mail: GuestMail, *, now: datetime) -> bool:
    """Return whether the mail matches the reservation's state and no newer one is queued or sent. One query.

    A mail shows the reservation as it is when it is sent, so only the newest of several is needed.
    """
    reservation = mail.reservation
    is_waitlisted = waitlist.is_waitlisted(reservation)
    is_pending = reservation.status == Status.PENDING
    confirm_by = reservation.confirm_by
    matches = {
        Kind.CONFIRMED: reservation.status == Status.CONFIRMED,
        Kind.REQUESTED: is_pending and not is_waitlisted and confirm_by is None,
        Kind.WAITLISTED: is_waitlisted,
        Kind.EMAIL_CONFIRMATION: confirm_by is not None and confirm_by > now,
        Kind.OFFERED: waitlist.has_offer(reservation, now=now),
        Kind.CANCELLED: reservation.status == Status.CANCELLED,
        Kind.CHANGED: reservation.status != Status.CANCELLED,
        Kind.REMINDER: reservation.status == Status.CONFIRMED,
    }[Kind(mail.kind)]
    if not matches or not can_email(reservation, mail.kind, now=now):
        return False
    newer = GuestMail.objects.filter(reservation=reservation, pk__gt=mail.pk, state__in=[State.PENDING, State.SENT])
    return not newer.exists()


def is_permanent(error: OSError) -> bool:
    """Return whether the server rejected the mail or its recipient permanently: 5xx (RFC 5321, section 4.2.1).

    A rejected sender or login is an error of the configuration, which staff can correct, so that is tried again.
    """
    if isinstance(error, smtplib.SMTPRecipientsRefused):
        return all(code >= 500 for code, _ in error.recipients.values())
    return isinstance(error, smtplib.SMTPDataError) and error.smtp_code >= 500


def describe_error(error: Exception) -> str:
    text = str(error)
    if isinstance(error, smtplib.SMTPRecipientsRefused):
        text = " ".join(f"{code} {reply!r}" for code, reply in error.recipients.values())
    elif isinstance(error, smtplib.SMTPResponseException):
        text = f"{error.smtp_code} {error.smtp_error!r}"
    return one_line(f"{type(error).__name__}: {text}")[:300]


def store_result(mail: GuestMail, **changes: Any) -> None:
    """Store the result of this attempt and end the lease, unless another worker has claimed the mail since."""
    GuestMail.objects.filter(pk=mail.pk, state=State.PENDING, attempts=mail.attempts).update(
        leased_until=None, **changes
    )


def close(backend: BaseEmailBackend) -> None:
    """Close the connection, whatever state it is in."""
    with suppress(OSError):
        backend.close()


def queue_reminders(*, now: datetime, venue: UUID | None = None) -> int:
    """Queue the reminders due within a day, enqueue the mail task; return how many. One statement for all venues.

    Those of this venue, or of all without a clock of their own.
    """
    with transaction.atomic(), connection.cursor() as cursor:
        cursor.execute(read_sql("reservations", "queue_reminders"), {"now": now, "venue": venue})
        count: int = cursor.rowcount
        if count:
            transaction.on_commit(enqueue_guest_mail)
    return count
