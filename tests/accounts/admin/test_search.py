"""The back office finds rows by what customers quote: ids, numbers, names, email addresses."""

from datetime import UTC, datetime
from typing import Any

import pytest
from django.test import Client
from django.urls import reverse

from accounts.models import Account, User, Venue
from catalogue.models import Restaurant, Review
from orders.models import Order
from reservations.models import Reservation
from tests.catalogue import builders as places
from tests.support import builders, users

pytestmark = pytest.mark.django_db


@pytest.fixture
def staff() -> Client:
    return builders.staff()


def listed(client: Client, model: Any, term: str) -> list[Any]:
    """The rows that the list of the model shows for this search."""
    opts = model._meta
    response = client.get(reverse(f"admin:{opts.app_label}_{opts.model_name}_changelist"), {"q": term})
    assert response.status_code == 200
    return list(response.context["cl"].result_list)


def found(client: Client, term: str) -> dict[str, list[str]]:
    """The rows that the search of all lists shows, by list."""
    response = client.get("/admin/search/", {"q": term})
    assert response.status_code == 200
    return {each.label: [name for name, _, _ in each.rows] for each in response.context["found"]}


@pytest.mark.exhaustive
def test_orders_are_found_by_id_and_number(staff: Client, venue: Venue) -> None:
    first, second = builders.order(venue), builders.order(venue)
    assert listed(staff, Order, first.public_id) == [first]
    assert listed(staff, Order, first.public_id.upper()) == [first]
    assert listed(staff, Order, f"#{second.number}") == [second]
    assert listed(staff, Order, "ord_00000000000000000000000000") == []


def test_reservations_and_venues_are_found_by_id(staff: Client, venue: Venue) -> None:
    reservation = builders.reservation(venue, starts_at=datetime(2031, 5, 3, 18, tzinfo=UTC))
    builders.venue("Another")
    assert listed(staff, Reservation, reservation.public_id) == [reservation]
    assert listed(staff, Venue, venue.public_id) == [venue]


def test_accounts_are_found_by_the_email_address_of_a_member(staff: Client, venue: Venue) -> None:
    owner = User.objects.create_user("moller@example.com")
    users.membership(venue, person=owner)
    builders.venue("Another")
    assert listed(staff, Account, "MOLLER@example.com") == [venue.account]


@pytest.mark.exhaustive
def test_names_are_found_without_their_accents(staff: Client) -> None:
    venue = builders.venue("Café Møller")
    reservation = builders.reservation(
        venue, starts_at=datetime(2031, 5, 3, 18, tzinfo=UTC), customer_name="Åse Sjöström"
    )
    place = places.restaurant(name="Trattoria Çelik & Møller")
    for term in ("cafe moller", "Café Møller"):
        assert listed(staff, Venue, term) == [venue]
    assert listed(staff, Reservation, "ase sjostrom") == [reservation]
    for term in ("celik", "Møller", "MOLLER"):
        assert listed(staff, Restaurant, term) == [place]


def test_rows_of_a_restaurant_are_found_by_its_name(staff: Client) -> None:
    place = places.restaurant(name="Kødbyens Fiskebar")
    review = places.review(place)
    places.review(places.restaurant(name="Another"))
    assert listed(staff, Review, "kodbyens fisk") == [review]
    assert listed(staff, Review, place.slug) == [review]


def test_an_id_in_the_search_of_all_lists_opens_its_row(staff: Client, venue: Venue) -> None:
    order = builders.order(venue)
    for row, name in ((order, "orders_order"), (venue, "accounts_venue")):
        response = staff.get("/admin/search/", {"q": f" {row.public_id} "})
        assert response["Location"] == reverse(f"admin:{name}_change", args=[row.pk])


@pytest.mark.exhaustive
def test_a_text_in_the_search_of_all_lists_shows_the_first_rows_of_each(staff: Client) -> None:
    venue = builders.venue("Osteria Zephyr")
    for _ in range(6):
        builders.reservation(venue, starts_at=datetime(2031, 5, 3, 18, tzinfo=UTC), customer_name="Zephyr", tables=[])
    shown = found(staff, "zephyr")
    assert shown["Venues"] == ["Osteria Zephyr"]
    assert len(shown["Reservations"]) == 5
    page = staff.get("/admin/search/", {"q": "zephyr"}).content.decode()
    assert 'href="/admin/reservations/reservation/?q=zephyr">All results in reservations</a>' in page


@pytest.mark.parametrize(("term", "words"), [("", "Enter at least 2 characters"), ("qqqq", "Nothing matches “qqqq”")])
def test_a_search_without_results_says_what_can_be_searched(staff: Client, term: str, words: str) -> None:
    assert words in staff.get("/admin/search/", {"q": term}).content.decode()


def test_only_who_is_signed_in_searches() -> None:
    assert Client().get("/admin/search/", {"q": "x"}).status_code == 302
