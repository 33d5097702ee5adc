"""An export of menus has a row for each dish of a published menu, and is free."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
from django.test import Client
from pytest_django import Settings

from accounts.models import Venue
from catalogue.exports.requests import checkout
from catalogue.models import Export, Listing
from orders.models import Menu, MenuItem
from payments.devchain.wallets import Wallet as Key
from tests.catalogue import builders
from tests.catalogue.exports import export_builders
from tests.catalogue.exports.export_builders import error_of, post
from tests.catalogue.exports.test_datasets import exported
from tests.payments.signing import client_of
from tests.support import builders as venues

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture(autouse=True)
def _files(settings: Settings, tmp_path: Path) -> None:
    export_builders.keep_in(settings, tmp_path / "exports")


@pytest.fixture
def joined() -> Venue:
    """A venue with a menu that stands for the restaurant noma, and one whose menu is not published."""
    venue = venues.venue()
    menu = venues.menu(venue, cola="3.00")
    pizza, cola = menu.items.get(ref="margherita"), menu.items.get(ref="cola")
    MenuItem.objects.filter(pk=pizza.pk).update(
        allergens=["gluten"], diets=["vegan"], tax_percent="5.5", translations={"da": {"name": "Pizza"}}
    )
    size = venues.modifier_group(menu, "size", {"large": "3.00", "small": "-0.50"}, pizza, min_choices=1)
    sauce = venues.modifier_group(menu, "sauce", {"mild": "0"})
    size.modifiers.filter(ref="large").update(item=cola, nested_group=sauce)
    builders.listing(builders.restaurant(slug="noma"), venue)
    hidden = venues.venue("Hidden")
    venues.menu(hidden, water="2.00")
    builders.listing(builders.restaurant(slug="hidden"), hidden)
    Menu.objects.filter(venue=hidden).update(is_published=False)
    return venue


@pytest.mark.exhaustive
def test_each_dish_is_exported_as_the_record_shows_it(joined: Venue, client: Client) -> None:
    menu = client.get("/v1/restaurants/noma?fields=menu").json()["menu"]
    rows = {row["menu_item_id"]: row for row in export_builders.read_rows(exported("menus"))}
    (category,) = menu["categories"]
    assert rows.keys() == {item["id"] for item in category["items"]} == {"margherita", "cola"}
    groups = {group["id"]: group for group in menu["modifier_groups"]}
    names = ("name", "description", "price", "tax_percent", "takeaway_tax_percent", "allergens", "diets")
    for item in category["items"]:
        row = rows[item["id"]]
        assert row["id"].startswith("itm_")
        assert {name: row[name] for name in (*names, "is_available", "translations")} == {
            name: item[name] for name in (*names, "is_available", "translations")
        }
        assert (row["restaurant"], row["category"], row["currency"]) == ("noma", category["name"], menu["currency"])
        assert (row["prices_include_tax"], row["served_from"], row["served_until"]) == (True, None, None)
        assert row["modifier_groups"] == [
            {
                **groups[ref],
                "modifiers": [
                    {**each, "modifier_group": groups[each["modifier_group"]] if each["modifier_group"] else None}
                    for each in groups[ref]["modifiers"]
                ],
            }
            for ref in item["modifier_groups"]
        ]


@pytest.mark.exhaustive
def test_a_menu_that_is_not_shown_is_not_exported(joined: Venue) -> None:
    Listing.objects.filter(venue=joined).update(is_active=False)
    assert exported("menus").rows == 0


@pytest.mark.exhaustive
def test_free_exports_of_an_address_are_limited_whatever_its_wallets(
    joined: Venue, wallets: Mapping[str, Key], prices: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(checkout, "MAX_FREE_PER_HOUR", 1)
    assert post(client_of(wallets["free"]), dataset="menus").status_code == 202
    assert error_of(post(client_of(wallets["pro"]), dataset="menus"))[:2] == (429, "rate_limit_exceeded")
    assert Export.objects.count() == 1


def test_an_export_of_menus_is_free_for_any_wallet_and_always_whole(
    joined: Venue, wallets: Mapping[str, Key], prices: Any
) -> None:
    free = client_of(wallets["free"])
    answer = post(free, dataset="menus")
    assert (answer.status_code, answer.json()["status"], answer.json()["payment"]) == (202, "queued", None)
    export = Export.objects.get()
    export_builders.run_to_end(export)
    assert (export.status, export.rows) == ("succeeded", 2)
    again = post(free, dataset="menus", since_export=export.public_id)
    assert error_of(again) == (400, "invalid_request", "since_export")
    assert again.json()["error"]["message"] == "An export of menus is always whole: leave `since_export` out."
    refused = post(free, dataset="menus", filter={"updated_since": "2026-11-21T19:30:00Z"})
    assert error_of(refused) == (400, "invalid_request", "filter.updated_since")
