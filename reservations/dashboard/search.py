"""Reservations and guests in the search of the dashboard."""

import re
from urllib.parse import urlencode

from django.utils.formats import date_format
from django.utils.translation import gettext, gettext_lazy

from accounts.dashboard.search import Hit, Source
from accounts.onboarding_steps import build_venue_url
from accounts.tenancy.permissions import Access, Right
from framework.public_ids import decode, encode
from framework.timezones import zone
from reservations.guests import search
from reservations.models import Reservation
from reservations.models.reservations import CODE_ALPHABET, CODE_LENGTH, PREFIX


def find_reservation(access: Access, text: str) -> str | None:
    """Return the URL of the reservation with this id or code."""
    found = Reservation.objects.filter(venue=access.venue)
    if key := decode(PREFIX, text.lower()):
        found = found.filter(pk=key)
    elif re.fullmatch(f"[{CODE_ALPHABET}]{{{CODE_LENGTH}}}", text.upper()):
        found = found.filter(code=text.upper())
    else:
        return None
    reservation = found.only("pk").first()
    return build_venue_url("reservation", access, reservation=reservation.public_id) if reservation else None


def find_reservations(access: Access, text: str, limit: int) -> list[Hit]:
    """Return the reservations of guests whose name, email address or number contains the text, latest first."""
    local = zone(access.venue.timezone)
    return [
        Hit(
            name,
            build_venue_url("reservation", access, reservation=encode(PREFIX, key)),
            f"{date_format(starts_at.astimezone(local), 'SHORT_DATETIME_FORMAT')},"
            f" {Reservation.Status(status).label.lower()}",
        )
        for key, name, _email, _phone, starts_at, status, _arrival in search.find_rows(access.venue, text, limit=limit)
    ]


def find_guests(access: Access, text: str, limit: int) -> list[Hit]:
    """Return the guests whose name, email address or number contains the text."""
    return [
        Hit(
            guest.name,
            build_venue_url("guest-of-venue", access, reservation=guest.public_id),
            ", ".join(guest.emails + guest.phones),
        )
        for guest in search.search(access.venue, text, now=access.venue.now())[:limit]
    ]


def suggest_new_reservation(access: Access, text: str) -> tuple[str, str] | None:
    """Return the link to a new reservation of a guest with this name."""
    if not access.may(Right.RESERVATIONS):
        return None
    url = f"{build_venue_url('reservation-new', access)}?{urlencode({'name': text})}"
    return gettext("New reservation for “%(text)s”") % {"text": text}, url


def suggest_all_guests(access: Access, _text: str) -> tuple[str, str]:
    return gettext("All guests"), build_venue_url("guests", access)


SOURCES = (
    Source(
        position=20,
        label=gettext_lazy("Reservations"),
        rights=(Right.RESERVATIONS,),
        find=find_reservations,
        find_exact=find_reservation,
        suggest=suggest_new_reservation,
    ),
    Source(
        position=30,
        label=gettext_lazy("Guests"),
        rights=(Right.GUESTS,),
        find=find_guests,
        list_page="guests",
        suggest=suggest_all_guests,
    ),
)
