"""The guests of the demo, and the notes of staff about them."""

from datetime import datetime
from pathlib import Path
from typing import Any

from anyascii import anyascii
from django.db import transaction

from accounts.demo.rows import IS_DEMO, demo_id
from accounts.models import Venue
from framework.data_files import read_toml
from reservations.guests.profiles import GUESTS_LOCK
from reservations.models import GuestContact, GuestProfile

GUESTS: list[dict[str, Any]] = read_toml(Path(__file__).with_suffix(".toml"))["guests"]
# Every fourth guest has given a phone number only.
PHONE_ONLY = 4


def email_of(guest: int) -> str | None:
    if guest % PHONE_ONLY == PHONE_ONLY - 1:
        return None
    name = "".join(letter for letter in anyascii(GUESTS[guest]["name"]).lower() if letter.isalpha() or letter == " ")
    return f"{name.replace(' ', '.')}@example.com"


def phone_of(guest: int) -> str:
    return f"+1555010{guest:04}"


def add_notes(venue: Venue, *, now: datetime) -> int:
    """Add the notes about guests of whom the venue has none yet; return how many."""
    noted = [(guest, row) for guest, row in enumerate(GUESTS) if row.get("note")]
    with transaction.atomic():
        GUESTS_LOCK.acquire(venue.pk)
        contacts = {
            guest: [contact for contact in (phone_of(guest), email_of(guest)) if contact] for guest, _ in noted
        }
        known = set(GuestContact.objects.filter(venue=venue).values_list("address", flat=True))
        profiles = {
            guest: GuestProfile(
                pk=demo_id(venue.pk, "guest", guest, at=venue.created_at),
                venue=venue,
                note=row["note"],
                tags=row.get("tags", []),
                updated_at=now,
            )
            for guest, row in noted
            if not known.intersection(contacts[guest])
        }
        GuestProfile.objects.bulk_create(profiles.values())
        GuestContact.objects.bulk_create(
            GuestContact(venue=venue, profile=profile, address=address)
            for guest, profile in profiles.items()
            for address in contacts[guest]
        )
    return len(profiles)


def remove_notes(venue: Venue) -> int:
    profiles = GuestProfile.objects.filter(IS_DEMO, venue=venue)
    removed = profiles.count()
    profiles.delete()
    return removed
