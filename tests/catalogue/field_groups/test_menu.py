"""The published menu of a restaurant that has joined, free for everybody."""

from typing import Any

import pytest
from django.test import Client

from accounts.models import Venue
from catalogue.models import Listing
from orders.models import Menu, MenuItem
from tests.catalogue import builders
from tests.mcp.client import call
from tests.support import builders as venues
from tests.support.query_counts import costing

pytestmark = pytest.mark.django_db


@pytest.fixture
def joined(venue: Venue) -> Venue:
    """A venue with a menu that stands for the restaurant noma."""
    menu = venues.menu(venue)
    MenuItem.objects.update(station="grill", stock=4, prep_minutes=9, diets=["vegan"], allergens=["gluten"])
    venues.modifier_group(menu, "size", {"large": "3.00"}, menu.items.get(), min_choices=1)
    builders.listing(builders.restaurant(slug="noma"), venue)
    return venue


def ask(client: Client, fields: str = "menu") -> Any:
    response = client.get(f"/v1/restaurants/noma?fields={fields}")
    assert response.status_code == 200, response.content
    return response.json()["menu"]


@pytest.mark.usefixtures("joined")
def test_the_published_menu_is_shown_with_prices_and_without_what_concerns_the_kitchen(client: Client) -> None:
    with costing(7):
        menu = ask(client)
    (category,) = menu["categories"]
    assert category["items"] == [
        {
            "id": "margherita",
            "name": "Margherita",
            "description": "",
            "price": "9.50",
            "tax_percent": "10",
            "takeaway_tax_percent": None,
            "allergens": ["gluten"],
            "diets": ["vegan"],
            "photo": None,
            "is_available": True,
            "is_sold_out": False,
            "sold_out_until": None,
            "translations": {},
            "modifier_groups": ["size"],
        }
    ]
    assert [group["modifiers"][0]["price"] for group in menu["modifier_groups"]] == ["3.00"]
    assert (menu["currency"], menu["prices_include_tax"]) == ("EUR", True)
    assert ask(client, "core,menu") == menu


def test_a_menu_that_is_not_published_or_of_an_inactive_listing_is_null(client: Client, joined: Venue) -> None:
    Menu.objects.update(is_published=False)
    assert ask(client) is None
    Menu.objects.update(is_published=True)
    Listing.objects.update(is_active=False)
    assert ask(client) is None
    Listing.objects.filter(venue=joined).delete()
    assert ask(client) is None


@pytest.mark.usefixtures("joined")
def test_agents_read_the_menu_for_free(client: Client) -> None:
    content = call(client, "get_menu", slug="noma")["structuredContent"]
    assert (content["slug"], content["menu"]) == ("noma", ask(client))
    Menu.objects.update(is_published=False)
    assert call(client, "get_menu", slug="noma")["structuredContent"]["menu"] is None
