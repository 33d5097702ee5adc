"""A venue's settings on the dashboard: stored part by part, by the rules of the back office."""

from typing import Any

import pytest
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext

from accounts.models import Venue
from tests.support import builders, users

NASTY = "<script>alert(1)</script>"
DETAILS: dict[str, Any] = {
    "name": "Osteria",
    "address": "Via Roma 1",
    "phone": "+39 06 1",
    "timezone": "Europe/Rome",
    "language": "it",
}


def root(venue: Venue) -> str:
    """Where the settings are."""
    return f"/dashboard/{venue.public_id}/settings"


def save(client: Client, venue: Venue, part: str, *, shown: dict[str, Any] | None = None, **fields: Any) -> Any:
    """Send one section; `shown` is what its form was opened with."""
    sent = {"section": part} | {f"{part}-{name}": value for name, value in fields.items()}
    sent |= {f"initial-{part}-{name}": value for name, value in (shown or {}).items()}
    return client.post(f"{root(venue)}/save", sent)


def text(response: Any) -> str:
    """The page."""
    content: str = response.content.decode()
    return content


@pytest.fixture
def manager(venue: Venue) -> Client:
    """Somebody who may change the settings."""
    return users.member(venue, "manager")


@pytest.mark.exhaustive
def test_the_settings_cost_five_queries(manager: Client, venue: Venue) -> None:
    with CaptureQueriesContext(connection) as captured:
        assert manager.get(root(venue)).status_code == 200
    # Session, user, venue, part; other venues.
    assert len(captured) == 5


@pytest.mark.exhaustive
def test_a_section_is_stored_by_itself(manager: Client, venue: Venue) -> None:
    answer = save(manager, venue, "details", **DETAILS | {"name": NASTY})
    assert (answer.status_code, answer["Location"]) == (302, f"{root(venue)}#details")
    venue.refresh_from_db()
    assert (venue.name, venue.address, venue.phone) == (NASTY, "Via Roma 1", "+39 06 1")
    page = text(manager.get(root(venue)))
    assert "Restaurant: saved." in page
    assert NASTY not in page


def test_sections_are_saved_together_or_not_at_all(manager: Client, venue: Venue) -> None:
    sent = {f"details-{name}": value for name, value in DETAILS.items()}
    sent |= {"section": ["details", "guests", "orders"], "guests-is_bookable_online": "on", "orders-currency": "euro"}
    answer = manager.post(f"{root(venue)}/save", sent)
    assert answer.status_code == 400
    # The valid sections keep what was typed.
    assert 'value="Via Roma 1"' in text(answer)
    venue.refresh_from_db()
    assert (venue.address, venue.is_bookable_online) == ("", False)
    answer = manager.post(f"{root(venue)}/save", sent | {"orders-currency": "EUR"}, follow=True)
    assert "Restaurant, Booking page, Orders: saved." in text(answer)
    venue.refresh_from_db()
    assert (venue.address, venue.is_bookable_online) == ("Via Roma 1", True)


def test_form_error_is_shown_at_its_field_and_the_input_is_preserved(manager: Client, venue: Venue) -> None:
    answer = save(manager, venue, "details", **DETAILS | {"name": "Trattoria", "timezone": "Europe/Rom"})
    assert answer.status_code == 400
    assert "There is no time zone Europe/Rom." in text(answer)
    assert 'value="Trattoria"' in text(answer)
    name = venue.name
    venue.refresh_from_db()
    assert (venue.name, venue.timezone) == (name, "Europe/Rome")


@pytest.mark.exhaustive
def test_the_zone_stays_while_guests_are_expected(manager: Client, venue: Venue) -> None:
    builders.reservation(venue)
    answer = save(manager, venue, "details", **DETAILS | {"timezone": "Asia/Tokyo"})
    assert answer.status_code == 400
    assert "The time zone cannot change while there are upcoming reservations." in text(answer)
    venue.refresh_from_db()
    assert venue.timezone == "Europe/Rome"


@pytest.mark.exhaustive
def test_the_currency_stays_while_dishes_are_priced(manager: Client, venue: Venue) -> None:
    builders.menu(venue)
    answer = save(manager, venue, "orders", currency="JPY", prices_include_tax="on", payment_methods="")
    assert answer.status_code == 400
    assert "The menu prices are in EUR. Remove the dishes before you change the currency." in text(answer)
    assert save(manager, venue, "orders", currency="EUR", payment_methods="card, cash").status_code == 302
    venue.refresh_from_db()
    assert (venue.currency, venue.prices_include_tax, venue.payment_methods) == ("EUR", False, ["card", "cash"])


@pytest.mark.exhaustive
@pytest.mark.parametrize(
    ("part", "fields"),
    [
        ("orders", {"currency": "euro"}),
        ("orders", {"currency": "EUR", "payment_methods": "Card"}),
        ("orders", {"currency": "EUR", "payment_methods": "a\0"}),
        ("reservations", {"max_days_ahead": "1e400", "auto_confirm_max_party": "8", "when_full": "refuse"}),
        ("reservations", {"max_days_ahead": "9" * 400, "auto_confirm_max_party": "8", "when_full": "refuse"}),
        ("reservations", {"max_days_ahead": "10", "auto_confirm_max_party": "501", "when_full": "refuse"}),
        ("reservations", {"max_days_ahead": "10", "auto_confirm_max_party": "8", "when_full": "shrug"}),
        ("details", {"name": "\0", "timezone": "UTC"}),
        ("details", {}),
    ],
    ids=["currency", "label", "nul", "infinite", "huge", "party", "choice", "name", "nothing"],
)
def test_what_makes_no_sense_is_refused_and_changes_nothing(
    manager: Client, venue: Venue, part: str, fields: dict[str, Any]
) -> None:
    before = Venue.objects.filter(pk=venue.pk).values().get()
    answer = save(manager, venue, part, **fields)
    assert answer.status_code == 400
    assert "Not saved. See the errors below." in text(answer)
    assert Venue.objects.filter(pk=venue.pk).values().get() == before


@pytest.mark.exhaustive
def test_concurrent_change_by_another_user_is_reported_once(manager: Client, venue: Venue) -> None:
    shown = {name: getattr(venue, name) for name in DETAILS}
    Venue.objects.filter(pk=venue.pk).update(phone="+39 06 999", address="Via Milano 2")
    answer = save(manager, venue, "details", shown=shown, **shown | {"phone": "+39 06 111"})
    assert answer.status_code == 400
    assert "Another user has changed this to “+39 06 999”. Save again to overwrite it." in text(answer)
    assert 'name="initial-details-phone" value="+39 06 999"' in text(answer)
    venue.refresh_from_db()
    assert venue.phone == "+39 06 999"
    again = save(manager, venue, "details", shown=shown | {"phone": "+39 06 999"}, **shown | {"phone": "+39 06 111"})
    assert again.status_code == 302
    venue.refresh_from_db()
    # What nobody changed in the form stays as the other one wrote it.
    assert (venue.phone, venue.address) == ("+39 06 111", "Via Milano 2")


@pytest.mark.exhaustive
def test_booking_page_url_is_shown_with_an_html_snippet(manager: Client, venue: Venue) -> None:
    page = text(manager.get(f"{root(venue)}/booking"))
    assert f"/book/{venue.public_id}</code>" in page
    assert f'/book/{venue.public_id}" title="Book a table"' in page
    assert '/static/reservations/embed.js" async&gt;' in page
    answer = save(manager, venue, "guests", is_bookable_online="on")
    assert (answer.status_code, answer["Location"]) == (302, f"{root(venue)}/booking#guests")
    venue.refresh_from_db()
    assert (venue.is_bookable_online, venue.proves_guests) == (True, False)


@pytest.mark.exhaustive
def test_settings_are_for_those_who_run_the_venue(manager: Client, venue: Venue, other_venue: Venue) -> None:
    for role in ("host", "kitchen"):
        assert users.member(venue, role).get(root(venue)).status_code == 403
        assert save(users.member(venue, role), venue, "guests", is_bookable_online="on").status_code == 403
    assert manager.get(root(other_venue)).status_code == 404
    assert save(manager, other_venue, "guests", is_bookable_online="on").status_code == 404
    assert save(manager, venue, "nonsense").status_code == 404
    assert Client().get(root(venue)).status_code == 302
    assert not Venue.objects.filter(is_bookable_online=True).exists()


@pytest.mark.exhaustive
def test_time_zone_is_found_by_its_city_and_currencies_have_their_names(manager: Client, venue: Venue) -> None:
    assert '<option value="DKK">DKK, Danish Krone</option>' in text(manager.get(root(venue)))
    assert save(manager, venue, "details", **DETAILS | {"timezone": "copenhagen"}).status_code == 302
    venue.refresh_from_db()
    assert venue.timezone == "Europe/Copenhagen"


@pytest.mark.exhaustive
@pytest.mark.parametrize(
    ("path", "title"),
    [
        ("", "Overview"),
        ("/settings", "Settings"),
        ("/settings/booking", "Settings"),
        ("/settings/tables", "Tables"),
        ("/settings/hours", "Hours"),
        ("/keys", "API keys"),
        ("/menu", "Menu"),
        ("/orders", "All orders"),
        ("/board", "Orders"),
        ("/data", "Data service"),
    ],
)
def test_title_names_the_page_and_the_restaurant(manager: Client, venue: Venue, path: str, title: str) -> None:
    page = text(manager.get(f"/dashboard/{venue.public_id}{path}", follow=True))
    assert f"<title>{title} · {venue.name}</title>" in page
