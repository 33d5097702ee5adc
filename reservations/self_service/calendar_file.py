"""The calendar file of a reservation (iCalendar, RFC 5545 and 5546), which guests add to their calendar."""

from email.utils import parseaddr
from urllib.parse import urlsplit

from django.conf import settings
from django.utils.translation import gettext as _

from reservations.models import Reservation
from reservations.self_service import links

FILE_NAME = "reservation.ics"
Status = Reservation.Status
STATUS = {Status.CONFIRMED: "CONFIRMED", Status.PENDING: "TENTATIVE", Status.CANCELLED: "CANCELLED"}


def build(reservation: Reservation) -> str:
    """Return the file, in the current language: one event, or its cancellation. Needs the venue; no query.

    The UID is the same for the life of the reservation, and SEQUENCE is its version, so that a calendar replaces the
    event after a change and removes it after METHOD:CANCEL.
    """
    # Its import takes most of a second, which processes that build no calendar file save.
    import icalendar

    venue = reservation.venue
    host = urlsplit(settings.PUBLIC_BASE_URL).hostname or "localhost"
    link = links.url_of(reservation)
    calendar = icalendar.Calendar()
    calendar.add("prodid", "-//Tablewire//Reservations//EN")
    calendar.add("version", "2.0")
    calendar.add("method", "CANCEL" if reservation.status == Status.CANCELLED else "PUBLISH")
    event = icalendar.Event()
    event.add("uid", f"{reservation.public_id}@{host}")
    event.add("sequence", reservation.version)
    event.add("dtstamp", reservation.updated_at)
    event.add("dtstart", reservation.starts_at)
    event.add("dtend", reservation.ends_at)
    event.add("status", STATUS[Status(reservation.status)])
    summary = _("Table for %(party_size)s at %(venue)s")
    event.add("summary", summary % {"party_size": reservation.party_size, "venue": one_line(venue.name)})
    event.add("location", ", ".join(one_line(part) for part in (venue.name, venue.address) if part))
    code = _("Code %(code)s") % {"code": reservation.code}
    view = _("View, change or cancel:")
    event.add("description", f"{code}\n{view} {link}")
    event.add("url", link)
    organizer = icalendar.vCalAddress(f"mailto:{parseaddr(settings.DEFAULT_FROM_EMAIL)[1]}")
    organizer.params["CN"] = one_line(venue.name).replace('"', "'")
    event["organizer"] = organizer
    calendar.add_component(event)
    return str(calendar.to_ical(), "utf-8")


def one_line(text: str) -> str:
    """Return the text without line breaks and control characters."""
    return " ".join("".join(char if char.isprintable() else " " for char in text).split())
