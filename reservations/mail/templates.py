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
from reservations.models import GuestMail, Reservation
from reservations.self_service import links

Kind = GuestMail.Kind


@dataclass(frozen=True, slots=True)
class MailText:
    """The texts of one kind of email, with the placeholders `{venue}` and `{until}`."""

    subject: str
    opening: str
    closing: str


MAIL_TEXTS = {
    Kind.CONFIRMED: MailText(
        subject="Your table at {venue} is reserved",
        opening="Your table is reserved.",
        closing="View the reservation, or cancel it if you cannot come:",
    ),
    Kind.REQUESTED: MailText(
        subject="{venue} has received your request",
        opening="We have received your request. It is not confirmed yet. We will email you when the restaurant has"
        " answered.",
        closing="View or withdraw the request:",
    ),
    Kind.WAITLISTED: MailText(
        subject="You are on the waiting list of {venue}",
        opening="No table is free at this time, so you are on the waiting list. When a table becomes free, we will"
        " email you and hold it for a while.",
        closing="View your status, or leave the waiting list:",
    ),
    Kind.EMAIL_CONFIRMATION: MailText(
        subject="Confirm your booking at {venue}",
        opening="This table was booked with your email address. Please confirm the booking by {until}. After that the"
        " table is released.",
        closing="If you did not book, you can ignore this email. To confirm your booking:",
    ),
    Kind.OFFERED: MailText(
        subject="A table at {venue} is available",
        opening="A table has become available. It is held for you until {until}.",
        closing="Accept or decline it on this page:",
    ),
    Kind.CANCELLED: MailText(
        subject="Your reservation at {venue} is cancelled",
        opening="Your reservation was cancelled.",
        closing="View the cancelled reservation:",
    ),
    Kind.CHANGED: MailText(
        subject="Your reservation at {venue} has changed",
        opening="Your reservation has changed. These are the new details.",
        closing="View the reservation, or cancel it if the change does not suit you:",
    ),
    Kind.REMINDER: MailText(
        subject="Reminder: your table at {venue}",
        opening="This is a reminder of your reservation.",
        closing="If you cannot come, please cancel on this page:",
    ),
}
# Staff have changed a request that is not confirmed yet.
CHANGED_UNCONFIRMED = MailText(
    subject="Your request at {venue} has changed",
    opening="Your request has changed. These are the new details. It is not confirmed yet;"
    " we will email you when it is.",
    closing="View or withdraw the request:",
)
# Text that email clients turn into a link. A guest name that contains one is left out of the email.
LINKED = re.compile(r"[/@:]|\w\.[a-z]{2,}")


def build_mail(mail: GuestMail) -> EmailMultiAlternatives:
    """Build the email from the current reservation. Needs its reservation and venue loaded; no query."""
    reservation = mail.reservation
    text, venue = select_text(mail), one_line(reservation.venue.name)
    until = reservation.confirm_by or waitlist.offer_expires_at(reservation)
    placeholders = {"venue": venue, "until": format_moment(until, reservation.venue.timezone) if until else ""}
    subject = text.subject.format(**placeholders)
    context = {
        "subject": subject,
        "greeting": greeting(reservation.customer_name),
        "opening": text.opening.format(**placeholders),
        "closing": text.closing,
        "venue": venue,
        "day": format_day(reservation.date),
        "reservation": reservation,
        "link": links.url_of(reservation),
    }
    message = EmailMultiAlternatives(
        subject=subject,
        body=render_to_string("reservations/mail/notice.txt", context),
        to=[str(reservation.customer_email)],
        headers={
            # The same for each attempt: email clients show duplicates only once.
            "Message-ID": f"<{mail.pk.hex}@{sender_domain()}>",
            "Auto-Submitted": "auto-generated",
        },
    )
    message.attach_alternative(render_to_string("reservations/mail/notice.html", context), "text/html")
    return message


def select_text(mail: GuestMail) -> MailText:
    """Return the texts that match the current state of the reservation."""
    reservation = mail.reservation
    if mail.kind != Kind.CHANGED or reservation.status != Reservation.Status.PENDING:
        return MAIL_TEXTS[Kind(mail.kind)]
    return MAIL_TEXTS[Kind.OFFERED] if reservation.offered_until else CHANGED_UNCONFIRMED


def one_line(text: str) -> str:
    """Replace line breaks and other control characters with spaces."""
    return " ".join("".join(char if char.isprintable() else " " for char in text).split())


def greeting(name: str) -> str:
    """Return the greeting. The name is left out if it looks like spam: too long, or with a link."""
    name = one_line(name)
    return "Hello," if not name or len(name) > 60 or LINKED.search(name) else f"Hello {name},"


def format_day(day: date) -> str:
    """Format a date unambiguously: Saturday 28 November 2026."""
    return f"{day:%A} {day.day} {day:%B} {day.year}"


def format_moment(moment: datetime, zone: str) -> str:
    """Format local time and date: 18:30 on Saturday 28 November 2026."""
    there = moment.astimezone(ZoneInfo(zone))
    return f"{there:%H:%M} on {format_day(there.date())}"


def sender_domain() -> str:
    """The domain of the sender address."""
    return parseaddr(settings.DEFAULT_FROM_EMAIL)[1].rpartition("@")[2] or "localhost"
