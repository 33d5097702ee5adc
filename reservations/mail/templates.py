"""The texts of emails to guests."""

import re
from datetime import datetime
from email.utils import parseaddr
from pathlib import Path
from zoneinfo import ZoneInfo

from django.conf import settings
from django.core.mail import EmailMultiAlternatives
from django.template.loader import render_to_string
from django.utils import timezone

from framework.data_files import read_toml
from reservations.booking import terms, waitlist
from reservations.booking.differences import format_day, list_differences
from reservations.models import GuestMail, Reservation
from reservations.self_service import calendar_file, links

Kind = GuestMail.Kind
# By kind, each with subject, opening and closing.
MAIL_TEXTS: dict[str, dict[str, str]] = read_toml(Path(__file__).with_name("texts.toml"))
# By kind, the statuses in which the email has the calendar file.
CONFIRMED, CANCELLED = Reservation.Status.CONFIRMED, Reservation.Status.CANCELLED
WITH_CALENDAR_FILE = {
    Kind.CONFIRMED: {CONFIRMED},
    Kind.CHANGED: {CONFIRMED},
    Kind.REMINDER: {CONFIRMED},
    Kind.CANCELLED: {CANCELLED},
}
# Text that email clients turn into a link. A guest name that contains one is left out of the email.
LINKED = re.compile(r"[/@:]|\w\.[a-z]{2,}")


def build_mail(mail: GuestMail) -> EmailMultiAlternatives:
    """Build the email from the current reservation. Needs it loaded with venue, area and terms; no query."""
    reservation = mail.reservation
    text, venue = select_text(mail), one_line(reservation.venue.name)
    until = reservation.confirm_by or waitlist.offer_expires_at(reservation)
    placeholders = {
        "venue": venue,
        "until": format_moment(until, reservation.venue.timezone) if until else "",
        "wait": format_wait(reservation),
    }
    sender_domain = parseaddr(settings.DEFAULT_FROM_EMAIL)[1].rpartition("@")[2] or "localhost"
    subject = text["subject"].format(**placeholders)
    context = {
        "subject": subject,
        "greeting": greeting(reservation.customer_name),
        "opening": text["opening"].format(**placeholders),
        "closing": text["closing"],
        "venue": venue,
        "day": format_day(reservation.date),
        "terms": terms.describe_agreed(reservation, getattr(reservation, "agreed_terms", None), now=timezone.now()),
        "differences": list_differences(mail.former, reservation) if mail.former else [],
        "area": one_line(reservation.area.name) if reservation.area else "",
        "reservation": reservation,
        "link": links.url_of(reservation),
    }
    message = EmailMultiAlternatives(
        subject=subject,
        body=render_to_string("reservations/mail/notice.txt", context),
        to=[str(reservation.customer_email)],
        headers={
            # The same for each attempt: email clients show duplicates only once.
            "Message-ID": f"<{mail.pk.hex}@{sender_domain}>",
            "Auto-Submitted": "auto-generated",
        },
    )
    message.attach_alternative(render_to_string("reservations/mail/notice.html", context), "text/html")
    if reservation.status in WITH_CALENDAR_FILE.get(Kind(mail.kind), ()):
        message.attach(calendar_file.FILE_NAME, calendar_file.build(reservation), "text/calendar")
    return message


def select_text(mail: GuestMail) -> dict[str, str]:
    reservation = mail.reservation
    if mail.kind == Kind.WAITLISTED and reservation.quoted_until and reservation.quoted_until > mail.created_at:
        return MAIL_TEXTS["waitlisted_quoted"]
    if mail.kind != Kind.CHANGED or reservation.status != Reservation.Status.PENDING:
        return MAIL_TEXTS[mail.kind]
    return MAIL_TEXTS[Kind.OFFERED if reservation.offered_until else "changed_unconfirmed"]


def format_wait(reservation: Reservation) -> str:
    """Format the wait that staff quoted: `30 minutes, until 19:40`; empty if they quoted none."""
    if reservation.quoted_until is None:
        return ""
    until = reservation.quoted_until.astimezone(ZoneInfo(reservation.venue.timezone))
    return f"{reservation.quoted_minutes} minute{'' if reservation.quoted_minutes == 1 else 's'}, until {until:%H:%M}"


def one_line(text: str) -> str:
    return " ".join("".join(char if char.isprintable() else " " for char in text).split())


def greeting(name: str) -> str:
    """Return the greeting. The name is left out if it looks like spam: too long, or with a link."""
    name = one_line(name)
    return "Hello," if not name or len(name) > 60 or LINKED.search(name) else f"Hello {name},"


def format_moment(moment: datetime, zone: str) -> str:
    """Format local time and date: 18:30 on Saturday 28 November 2026."""
    there = moment.astimezone(ZoneInfo(zone))
    return f"{there:%H:%M} on {format_day(there.date())}"
