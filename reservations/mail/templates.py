"""The texts of emails to guests."""

import re
from dataclasses import dataclass
from datetime import date, datetime
from email.utils import parseaddr
from zoneinfo import ZoneInfo

from django.conf import settings
from django.core.mail import EmailMultiAlternatives
from django.template.loader import render_to_string

from reservations.booking import waitlist
from reservations.models import Notice, Reservation
from reservations.self_service import links

Kind = Notice.Kind


@dataclass(frozen=True, slots=True)
class Words:
    """The texts of one kind of email, with the placeholders `{venue}` and `{until}`."""

    subject: str
    opening: str
    closing: str


WORDS = {
    Kind.CONFIRMED: Words(
        subject="Your table at {venue} is reserved",
        opening="Your table is reserved.",
        closing="View the reservation, or cancel it if you cannot come:",
    ),
    Kind.REQUESTED: Words(
        subject="{venue} has received your request",
        opening="We have received your request. It is not confirmed yet. We will email you when the restaurant has"
        " answered.",
        closing="View or withdraw the request:",
    ),
    Kind.WAITLISTED: Words(
        subject="You are on the waiting list of {venue}",
        opening="No table is free at this time, so you are on the waiting list. When a table becomes free, we will"
        " email you and hold it for a while.",
        closing="View your status, or leave the waiting list:",
    ),
    Kind.PROOF: Words(
        subject="Confirm your booking at {venue}",
        opening="This table was booked with your email address. Please confirm the booking by {until}. After that the"
        " table is released.",
        closing="If you did not book, you can ignore this email. To confirm your booking:",
    ),
    Kind.OFFERED: Words(
        subject="A table at {venue} is available",
        opening="A table has become available. It is held for you until {until}.",
        closing="Accept or decline it on this page:",
    ),
    Kind.CANCELLED: Words(
        subject="Your reservation at {venue} is cancelled",
        opening="Your reservation was cancelled.",
        closing="View the cancelled reservation:",
    ),
    Kind.MOVED: Words(
        subject="Your reservation at {venue} has changed",
        opening="Your reservation has changed. These are the new details.",
        closing="View the reservation, or cancel it if the change does not suit you:",
    ),
    Kind.REMINDER: Words(
        subject="Reminder: your table at {venue}",
        opening="This is a reminder of your reservation.",
        closing="If you cannot come, please cancel on this page:",
    ),
}
# Staff have moved a request that is not confirmed yet.
MOVED_UNCONFIRMED = Words(
    subject="Your request at {venue} has changed",
    opening="Your request has changed. These are the new details. It is not confirmed yet;"
    " we will email you when it is.",
    closing="View or withdraw the request:",
)
# Text that email clients turn into a link. A guest name that contains one is left out of the email.
LINKED = re.compile(r"[/@:]|\w\.[a-z]{2,}")


def write(notice: Notice) -> EmailMultiAlternatives:
    """Build the email of a notice from the current reservation. Needs its reservation and venue loaded; no query."""
    reservation = notice.reservation
    words, venue = words_of(notice), one_line(reservation.venue.name)
    until = reservation.prove_by or waitlist.held_until(reservation)
    known = {"venue": venue, "until": hour_of(until, reservation.venue.timezone) if until else ""}
    subject = words.subject.format(**known)
    context = {
        "subject": subject,
        "greeting": greeting(reservation.customer_name),
        "opening": words.opening.format(**known),
        "closing": words.closing,
        "venue": venue,
        "day": day_in_words(reservation.date),
        "reservation": reservation,
        "link": links.url_of(reservation),
    }
    mail = EmailMultiAlternatives(
        subject=subject,
        body=render_to_string("reservations/mail/notice.txt", context),
        to=[str(reservation.customer_email)],
        headers={
            # The same for each attempt: email clients show duplicates only once.
            "Message-ID": f"<{notice.pk.hex}@{sender_domain()}>",
            "Auto-Submitted": "auto-generated",
        },
    )
    mail.attach_alternative(render_to_string("reservations/mail/notice.html", context), "text/html")
    return mail


def words_of(notice: Notice) -> Words:
    """Return the texts that match the current state of the reservation."""
    reservation = notice.reservation
    if notice.kind != Kind.MOVED or reservation.status != Reservation.Status.PENDING:
        return WORDS[Kind(notice.kind)]
    return WORDS[Kind.OFFERED] if reservation.offered_until else MOVED_UNCONFIRMED


def one_line(text: str) -> str:
    """Replace line breaks and other control characters with spaces."""
    return " ".join("".join(letter if letter.isprintable() else " " for letter in text).split())


def greeting(name: str) -> str:
    """Return the greeting. The name is left out if it looks like spam: too long, or with a link."""
    name = one_line(name)
    return "Hello," if not name or len(name) > 60 or LINKED.search(name) else f"Hello {name},"


def day_in_words(day: date) -> str:
    """Format a date unambiguously: Saturday 28 November 2026."""
    return f"{day:%A} {day.day} {day:%B} {day.year}"


def hour_of(moment: datetime, zone: str) -> str:
    """Format local time and date: 18:30 on Saturday 28 November 2026."""
    there = moment.astimezone(ZoneInfo(zone))
    return f"{there:%H:%M} on {day_in_words(there.date())}"


def sender_domain() -> str:
    """The domain of the sender address."""
    return parseaddr(settings.DEFAULT_FROM_EMAIL)[1].rpartition("@")[2] or "localhost"
