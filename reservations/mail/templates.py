"""Builds emails to guests, in their language."""

import re
from collections.abc import Mapping
from email.utils import parseaddr
from zoneinfo import ZoneInfo

from django.conf import settings
from django.core.mail import EmailMultiAlternatives
from django.template.loader import render_to_string
from django.utils import translation
from django.utils.translation import gettext as _
from django.utils.translation import ngettext
from django_stubs_ext import StrPromise

from framework.languages import format_clock, format_day, format_moment
from reservations.booking import terms, waitlist
from reservations.booking.differences import list_differences
from reservations.mail.texts import TEXTS
from reservations.models import GuestMail, Reservation
from reservations.self_service import calendar_file, links
from reservations.self_service.calendar_file import one_line

Kind = GuestMail.Kind
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
    with translation.override(mail.reservation.language or mail.reservation.venue.language):
        return build_in_current_language(mail)


def build_in_current_language(mail: GuestMail) -> EmailMultiAlternatives:
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
        "terms": terms.describe_agreed(
            reservation, getattr(reservation, "agreed_terms", None), now=reservation.venue.now()
        ),
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


def select_text(mail: GuestMail) -> Mapping[str, StrPromise]:
    reservation = mail.reservation
    if mail.kind == Kind.WAITLISTED and reservation.quoted_until and reservation.quoted_until > mail.created_at:
        return TEXTS["waitlisted_quoted"]
    if mail.kind != Kind.CHANGED or reservation.status != Reservation.Status.PENDING:
        return TEXTS[mail.kind]
    return TEXTS[Kind.OFFERED if reservation.offered_until else "changed_unconfirmed"]


def format_wait(reservation: Reservation) -> str:
    """Format the wait that staff quoted: `30 minutes, until 19:40`; empty if they quoted none."""
    if reservation.quoted_until is None or reservation.quoted_minutes is None:
        return ""
    until = reservation.quoted_until.astimezone(ZoneInfo(reservation.venue.timezone))
    minutes = reservation.quoted_minutes
    text = ngettext("%(minutes)s minute, until %(time)s", "%(minutes)s minutes, until %(time)s", minutes)
    return text % {"minutes": minutes, "time": format_clock(until)}


def greeting(name: str) -> str:
    """Return the greeting. The name is left out if it looks like spam: too long, or with a link."""
    name = one_line(name)
    if not name or len(name) > 60 or LINKED.search(name):
        return _("Hello,")
    return _("Hello %(name)s,") % {"name": name}
