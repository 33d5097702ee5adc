"""The wall clock of a venue, and the zone that it is set by."""

from datetime import UTC, date, datetime, time

import pytest
from django.db import IntegrityError, transaction
from django.test import Client

from accounts.models import Venue
from reservations.booking.venue_time import NonexistentTime, to_utc
from reservations.models import Reservation
from tests.support import builders

EVENING = datetime(2031, 5, 3, 17, 30, tzinfo=UTC)
ZONES = ("UTC", "Pacific/Kiritimati", "Etc/GMT+12", "Europe/Rome")


@pytest.mark.parametrize("zone", ZONES)
@pytest.mark.parametrize("day", [date.min, date.max])
@pytest.mark.parametrize("at", [time(0, 0), time(12, 0), time(23, 59)])
def test_the_first_and_the_last_day_of_the_calendar_are_beyond_it(zone: str, day: date, at: time) -> None:
    with pytest.raises(NonexistentTime, match="This is beyond the calendar") as refused:
        to_utc(Venue(timezone=zone), day=day, at=at)
    assert refused.value.param == "date"


@pytest.mark.parametrize(("day", "at"), [("0001-01-01", "12:00"), ("9999-12-31", "23:59"), ("9999-12-30", "23:59")])
def test_staff_get_an_error_for_the_last_day_of_the_calendar(venue: Venue, day: str, at: str) -> None:
    staff = builders.staff()
    builders.table(venue)
    reservation = builders.reservation(venue)
    form = {
        "customer_name": "Ada Lovelace", "customer_email": "ada@example.com", "customer_phone": "", "date": day,
        "time": at, "party_size": "4", "special_requests": "", "tables": "T1",
    }  # fmt: skip
    response = staff.post(f"/admin/reservations/reservation/{reservation.pk}/change/", form)
    if day == "9999-12-30":
        assert response.status_code == 302
        return
    assert response.context["adminform"].form.errors == {"date": ["This is beyond the calendar."]}
    assert Reservation.objects.get().date == date(2031, 5, 3)


# The zone
def zone_of(venue: Venue) -> str:
    """The zone that is stored."""
    return Venue.objects.get(pk=venue.pk).timezone


@pytest.mark.parametrize("status", ["pending", "confirmed"])
def test_a_venue_with_upcoming_reservations_cannot_change_its_time_zone(venue: Venue, status: str) -> None:
    builders.reservation(venue, status=status, starts_at=EVENING)
    with pytest.raises(IntegrityError, match="has upcoming reservations in its time zone"), transaction.atomic():
        Venue.objects.filter(pk=venue.pk).update(timezone="America/New_York")
    assert zone_of(venue) == "Europe/Rome"
    # The other rules of the venue are its own.
    venue.max_days_ahead = 7
    venue.save()


def test_a_venue_without_upcoming_reservations_may_change_its_time_zone(venue: Venue, other_venue: Venue) -> None:
    builders.reservation(venue, status="cancelled", starts_at=EVENING)
    builders.reservation(venue, status="confirmed", starts_at=datetime(2020, 5, 3, 17, 30, tzinfo=UTC))
    builders.reservation(other_venue, starts_at=EVENING)
    Venue.objects.filter(pk=venue.pk).update(timezone="America/New_York")
    assert zone_of(venue) == "America/New_York"


@pytest.fixture
def staff(db: None) -> Client:
    """A superuser in the back office."""
    return builders.staff()


@pytest.mark.exhaustive
def test_the_back_office_says_at_the_field_why_a_zone_stays(staff: Client, venue: Venue) -> None:
    reservation = builders.reservation(venue, starts_at=EVENING)
    page = f"/admin/accounts/venue/{venue.pk}/change/"
    form = {
        "account": str(venue.account_id), "name": "Trattoria", "timezone": "America/New_York", "currency": "EUR",
        "payment_methods": "card", "max_days_ahead": "365", "auto_confirm_max_party": "8", "when_full": "refuse",
    }  # fmt: skip
    page_text = ["The time zone cannot change while there are upcoming reservations."]
    assert staff.post(page, form).context["adminform"].form.errors == {"timezone": page_text}
    inline = {
        "name": "Trattoria Ltd", "venues-TOTAL_FORMS": "1", "venues-INITIAL_FORMS": "1", "venues-0-id": str(venue.pk),
        "venues-0-account": str(venue.account_id), "venues-0-name": "Trattoria",
        "venues-0-timezone": "America/New_York", "venues-0-currency": "EUR",
    }  # fmt: skip
    response = staff.post(f"/admin/accounts/account/{venue.account_id}/change/", inline)
    assert response.status_code == 200
    assert page_text[0] in response.content.decode()
    assert zone_of(venue) == "Europe/Rome"
    assert staff.post(page, form | {"timezone": "Europe/Rome"}).status_code == 302
    reservation.delete()
    assert staff.post(page, form).status_code == 302
    assert zone_of(venue) == "America/New_York"
