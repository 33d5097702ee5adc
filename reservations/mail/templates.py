"""What the mail to guests says."""

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
    """The words of one kind of mail; `{venue}` and `{until}` are filled in."""

    subject: str
    opening: str
    closing: str


WORDS = {
    Kind.CONFIRMED: Words(
        subject="Your table at {venue} is reserved",
        opening="Your table is reserved.",
        closing="See the reservation, or cancel it if you cannot come:",
    ),
    Kind.REQUESTED: Words(
        subject="{venue} has your request",
        opening="We have your request. The restaurant will confirm it, and we will write to you then.",
        closing="See the request, or take it back:",
    ),
    Kind.WAITLISTED: Words(
        subject="You are on the waiting list of {venue}",
        opening="No table is free at this time, so you are on the waiting list. When a table becomes free for you, we"
        " will write to you and hold it for a while.",
        closing="See where you stand, or leave the list:",
    ),
    Kind.PROOF: Words(
        subject="Confirm your booking at {venue}",
        opening="Somebody asked for this table with your mail address. It is kept until {until}; then it is given to"
        " others unless you confirm.",
        closing="If it was you, confirm on this page. If not, there is nothing to do:",
    ),
    Kind.OFFERED: Words(
        subject="A table at {venue} is free for you",
        opening="A table has become free. It is held for you until {until}.",
        closing="Accept or decline it on this page:",
    ),
    Kind.CANCELLED: Words(
        subject="Your reservation at {venue} is cancelled",
        opening="This reservation is cancelled. There is nothing left to do.",
        closing="What was booked:",
    ),
    Kind.MOVED: Words(
        subject="Your reservation at {venue} has changed",
        opening="Your reservation has changed. This is how it stands now.",
        closing="See the reservation, or cancel it if this does not suit you:",
    ),
    Kind.REMINDER: Words(
        subject="Your table at {venue}, soon",
        opening="You are expected soon.",
        closing="If you cannot come, please cancel on this page, so that others get the table:",
    ),
}
# The staff have moved what they have not confirmed.
MOVED_UNCONFIRMED = Words(
    subject="Your request at {venue} has changed",
    opening="Your request has changed. This is how it stands now. It is not confirmed yet;"
    " we will write to you when it is.",
    closing="See where it stands, or take it back:",
)
# What mail programs turn into a link. A name that holds one is not a name, and we do not mail it to anybody.
LINKED = re.compile(r"[/@:]|\w\.[a-z]{2,}")


def write(notice: Notice) -> EmailMultiAlternatives:
    """The mail of this notice, by what the reservation says now. Needs its reservation and venue; no query."""
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
            # The same each time that it is sent: mail programs show a mail that came twice once.
            "Message-ID": f"<{notice.pk.hex}@{sender_domain()}>",
            "Auto-Submitted": "auto-generated",
        },
    )
    mail.attach_alternative(render_to_string("reservations/mail/notice.html", context), "text/html")
    return mail


def words_of(notice: Notice) -> Words:
    """The words that are true of the reservation now."""
    reservation = notice.reservation
    if notice.kind != Kind.MOVED or reservation.status != Reservation.Status.PENDING:
        return WORDS[Kind(notice.kind)]
    return WORDS[Kind.OFFERED] if reservation.offered_until else MOVED_UNCONFIRMED


def one_line(text: str) -> str:
    """The text without line ends and other control characters."""
    return " ".join("".join(letter if letter.isprintable() else " " for letter in text).split())


def greeting(name: str) -> str:
    """How the mail begins. Who booked may have written an advertisement where the name belongs."""
    name = one_line(name)
    return "Hello," if not name or len(name) > 60 or LINKED.search(name) else f"Hello {name},"


def day_in_words(day: date) -> str:
    """A day that nobody reads as another: Saturday 28 November 2026."""
    return f"{day:%A} {day.day} {day:%B} {day.year}"


def hour_of(moment: datetime, zone: str) -> str:
    """What the clock in this zone shows then, with the day: 18:30 on Saturday 28 November 2026."""
    there = moment.astimezone(ZoneInfo(zone))
    return f"{there:%H:%M} on {day_in_words(there.date())}"


def sender_domain() -> str:
    """The domain that our mail comes from."""
    return parseaddr(settings.DEFAULT_FROM_EMAIL)[1].rpartition("@")[2] or "localhost"
