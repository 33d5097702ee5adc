"""Which venue the dashboard opens, and the first steps after sign-up."""

import re

import pytest
from django.test import Client
from django.utils import timezone

from accounts.lifecycle import sign_up
from accounts.models import Account, Membership, User, Venue
from orders.models import Order
from tests.support import builders, users
from tests.support.query_counts import costing

TOKEN = "0123456789abcdef" * 2


@pytest.fixture
def first(venue: Venue) -> Venue:
    """Another venue of the account, which is first by name."""
    return Venue.objects.create(account=venue.account, name="Alba", timezone="Europe/Rome", currency="EUR")


def opened(client: Client) -> str:
    """The venue that the dashboard opens."""
    return client.get("/dashboard/").headers["Location"].removeprefix("/dashboard/")


def test_dashboard_opens_the_first_venue_and_then_the_last_one(first: Venue, venue: Venue) -> None:
    user = users.membership(venue).user
    assert opened(users.signed_in(user)) == first.public_id
    users.signed_in(user).get(f"/dashboard/{venue.public_id}/team")
    # Also after a sign-out, which ends the session.
    assert opened(users.signed_in(user)) == venue.public_id


def test_last_venue_is_stored_only_when_it_changes(first: Venue, venue: Venue) -> None:
    client = users.member(venue)
    with costing(12):
        client.get(f"/dashboard/{venue.public_id}/team")
    with costing(13):
        client.get(f"/dashboard/{first.public_id}/team")
    with costing(12):
        client.get(f"/dashboard/{first.public_id}/team")


def test_parts_of_a_page_do_not_change_the_last_venue(first: Venue, venue: Venue) -> None:
    client = users.member(venue)
    client.get(f"/dashboard/{first.public_id}/orders/today", headers={"HX-Request": "true"})
    client.post(f"/dashboard/{first.public_id}/account/name", {"name": "New"})
    assert opened(client) == venue.public_id


@pytest.mark.exhaustive
def test_venue_that_is_not_accessible_any_more_is_ignored(first: Venue, venue: Venue, other_venue: Venue) -> None:
    user = users.membership(venue).user
    other = users.membership(other_venue, person=user)
    client = users.signed_in(user)
    client.get(f"/dashboard/{other_venue.public_id}")
    other.delete()
    assert opened(client) == first.public_id
    client.get(f"/dashboard/{venue.public_id}")
    venue.delete()
    assert opened(client) == first.public_id
    Account.objects.update(closed_at=timezone.now())
    assert client.get("/dashboard/").status_code == 200


def test_staff_reopen_the_venue_of_a_customer(venue: Venue) -> None:
    client = users.signed_in(users.user(is_staff=True, is_superuser=True))
    assert client.get("/dashboard/").status_code == 200
    client.get(f"/dashboard/{venue.public_id}")
    assert opened(client) == venue.public_id


@pytest.mark.django_db
def test_new_account_opens_its_sandbox() -> None:
    user = users.user()
    key = sign_up.create_account(user, name="Nuovo", timezone="Europe/Rome", currency="EUR")
    assert key.row.venue.is_sandbox
    assert opened(users.signed_in(User.objects.get(pk=user.pk))) == key.row.venue.public_id


def test_who_joins_a_team_opens_its_venue(venue: Venue, other_venue: Venue) -> None:
    from accounts.dashboard.invitation import redirect_to_dashboard
    from accounts.models import Invitation

    user = users.membership(venue).user
    user.remember_venue(venue)
    Membership.objects.create(account=other_venue.account, user=user, role="host")
    request = users.signed_in(user).get("/dashboard/").wsgi_request
    redirect_to_dashboard(request, Invitation(account=other_venue.account))
    assert User.objects.get(pk=user.pk).last_venue_id == other_venue.pk


@pytest.mark.exhaustive
@pytest.mark.django_db
def test_welcome_page_places_the_example_order_on_the_board() -> None:
    sandbox = builders.venue(is_sandbox=True)
    client = users.member(sandbox)
    page = client.get(f"/dashboard/{sandbox.public_id}/welcome").content.decode()
    assert f'href="/dashboard/{sandbox.public_id}/board"' in page
    (token,) = re.findall(r'name="token" value="(\w+)"', page)
    url = f"/dashboard/{sandbox.public_id}/orders/example"
    board = client.post(url, {"token": token}, follow=True)
    assert board.redirect_chain == [(f"/dashboard/{sandbox.public_id}/board", 302)]
    assert "Order 1 was placed." in board.content.decode()
    order = Order.objects.get()
    assert (order.number, order.customer_id, order.payment_method, order.delivery_address) == (
        *(1, "cust_123", "card"),
        None,
    )
    assert list(order.items.values_list("menu_item_id", "quantity")) == [("margherita", 2)]
    # A double click sends the same form twice; another page is another order.
    client.post(url, {"token": token})
    assert Order.objects.count() == 1
    client.post(url, {"token": TOKEN})
    assert Order.objects.count() == 2


@pytest.mark.django_db
def test_example_order_that_the_menu_refuses_is_an_error_message() -> None:
    sandbox = builders.venue(is_sandbox=True)
    menu = builders.menu(sandbox)
    menu.items.filter(ref="margherita").delete()
    page = users.member(sandbox).post(f"/dashboard/{sandbox.public_id}/orders/example", {"token": TOKEN}, follow=True)
    assert page.status_code == 200
    assert "message error" in page.content.decode()
    assert Order.objects.count() == 0


@pytest.mark.django_db
@pytest.mark.parametrize("token", ["", "x" * 32, "0123456789ABCDEF0123456789ABCDEFA"])
def test_example_order_without_a_valid_token_is_404(token: str) -> None:
    sandbox = builders.venue(is_sandbox=True)
    assert (
        users.member(sandbox).post(f"/dashboard/{sandbox.public_id}/orders/example", {"token": token}).status_code
        == 404
    )


def test_live_venues_have_no_example_order(venue: Venue) -> None:
    client = users.member(venue)
    assert client.post(f"/dashboard/{venue.public_id}/orders/example", {"token": TOKEN}).status_code == 404
    assert "Send this order for me" not in client.get(f"/dashboard/{venue.public_id}/welcome").content.decode()
    assert Order.objects.count() == 0
