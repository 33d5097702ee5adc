"""Ids of another account's rows in URLs and form fields: the pages answer as if the rows did not exist."""

from datetime import date, time, timedelta
from typing import Any

import pytest
from django.test import Client
from django.urls import reverse
from django.utils import timezone

from accounts.models import ApiCall, ApiKey, Invitation, OAuthApp, PushDevice, Venue
from catalogue.models import Export, Photo, RestaurantClaim, Review
from config import urls
from framework.public_ids import encode, new_id
from orders.models import ChargeRule, MenuItem, MenuUpload
from payments.models import Wallet, WalletSession
from reservations.models import Area, CancellationTerms, Closure, Combination, Reservation, ServicePeriod, Table
from tests.accounts.tenancy.test_permissions import a_delivery, a_grant, address
from tests.accounts.tenancy.test_post_routes import list_routes
from tests.catalogue import builders as catalogue_builders
from tests.payments import ledger_builders
from tests.support import builders, users

pytestmark = pytest.mark.django_db

WALLET = "0x" + "ab" * 20
# The parameter `key` names rows of several kinds: the kind by a part of the route's name.
KINDS_OF_KEY = {
    "menu-upload": "upload",
    "menu-category": "category",
    "menu-item": "dish",
    "menu-group": "group",
    "charge": "charge",
    "area": "area",
    "combination": "combination",
    "period": "period",
    "closure": "closure",
    "term": "term",
    "table": "table",
    "key-": "api_key",
}


def make_rows(venue: Venue) -> dict[str, Any]:
    """One row of each kind that belongs to a venue or its account, by the name of its parameter in URLs."""
    now, menu = timezone.now(), builders.menu(venue)
    delivery, area = a_delivery(venue), Area.objects.create(venue=venue, name=f"Terrace of {venue}")
    tables = [builders.table(venue, f"{venue.name}{number}", area=area) for number in (1, 2)]
    key = ApiKey.create(venue, name="till").row
    wallet = Wallet.objects.create(address=WALLET, account=venue.account)
    claimed = catalogue_builders.restaurant()
    RestaurantClaim.objects.create(
        restaurant=claimed, venue=venue, method="staff", state="verified", created_at=now, decided_at=now
    )
    return {
        "app": OAuthApp.objects.create(
            kind="registered", account=venue.account, name="Belladonna", redirect_uris=["https://pos.example.com/cb"]
        ),
        "grant": a_grant(venue),
        "dish": menu.items.get(),
        "category": menu.categories.get(),
        "charge": ChargeRule.objects.create(venue=venue, type="fee", name="Belladonna", amount=1),
        "group": menu.modifier_groups.create(ref="size", name="Size"),
        "area": area,
        "table": tables[0],
        "combination": builders.combination(venue, *tables, seats_min=5, seats_max=8),
        "period": ServicePeriod.objects.create(
            venue=venue, name="Night", weekdays=[0], first_seating=time(20), last_seating=time(23)
        ),
        "closure": Closure.objects.create(venue=venue, first_date=date(2027, 1, 1), last_date=date(2027, 1, 2)),
        "term": CancellationTerms.objects.create(venue=venue, free_hours=24),
        "reservation": builders.reservation(venue, customer_name="Belladonna"),
        "order": builders.order(venue),
        "api_key": key,
        "delivery": delivery,
        "endpoint": delivery.endpoint,
        "device": PushDevice.objects.create(
            user=users.user(), endpoint="https://push.example.com/1", public_key=b"", auth_secret=b"", created_at=now
        ),
        "membership": users.membership(venue, "host"),
        "invitation": Invitation.objects.create(
            account=venue.account,
            email="new@example.com",
            role="host",
            digest=b"digest",
            created_at=now - timedelta(hours=1),
            expires_at=now + timedelta(days=1),
        ),
        "upload": MenuUpload.objects.create(venue=venue, file_name="menu.csv", content={}, created_at=now),
        "address": wallet,
        "session": WalletSession.objects.create(
            wallet=wallet, nonce="n", digest="d", created_at=now, expires_at=now + timedelta(days=1)
        ),
        "export": Export.objects.create(wallet=wallet, dataset="reviews", format="csv.gz", created_at=now),
        "payment": ledger_builders.payment(payer=WALLET),
        "review": Review.objects.create(
            restaurant=claimed, stars=5, author="Belladonna", source=catalogue_builders.source(), created_at=now
        ),
        "photo": catalogue_builders.photo(claimed, source=catalogue_builders.source("owner")),
        "offer": catalogue_builders.rule(claimed),
        "call": ApiCall.objects.create(
            id=new_id(), venue=venue, key=key, method="GET", path="/x", status=200, duration_ms=1, created_at=now
        ),
    }


def stored(rows: dict[str, Any]) -> list[Any]:
    return [type(row).objects.filter(pk=row.pk).values().first() for row in rows.values()]


def get_id(row: Any) -> Any:
    if isinstance(row, Photo | Review):
        return encode("ph" if isinstance(row, Photo) else "rev", row.pk)
    return getattr(row, "public_id", None) or row.pk


def foreign_urls(venue: Venue, theirs: dict[str, Any]) -> dict[str, str]:
    """The URLs of a venue's pages with the ids of another venue's rows, by route."""
    found = {}
    for route in list_routes(urls.dashboard):
        name, parameters = str(route.name), set(route.pattern.converters) - {"venue"}
        if "venue" not in route.pattern.converters:
            continue
        values: dict[str, Any] = {"venue": venue.public_id}
        for parameter in parameters:
            kind = parameter
            if parameter == "key":
                kind = next(kind for part, kind in KINDS_OF_KEY.items() if part in name)
            # `part` and `name` are words.
            values[parameter] = get_id(theirs[kind]) if kind in theirs else "confirm"
        if parameters & {"key", *theirs}:
            found[name] = reverse(name, kwargs=values)
    return found


@pytest.mark.exhaustive
def test_a_row_of_another_account_in_the_url_is_not_found_and_does_not_change() -> None:
    mine, venue = builders.venue("Aurora"), builders.venue("Bistro")
    owner, theirs = users.member(mine), make_rows(venue)
    before, urls_of = stored(theirs), foreign_urls(mine, theirs)
    assert len(urls_of) >= 66
    for name, url in urls_of.items():
        sent = {"post": "yes", "name": "taken", "typed": "Belladonna", "to": "up", "role": "host", "confirmed": "yes"}
        for answer in (owner.get(url), owner.post(url, sent, follow=True)):
            # A POST with an unknown team member or invitation returns to the team page, with an error.
            assert answer.status_code in (404, 405) or "is no longer a member" in answer.content.decode(), name
            assert "Belladonna" not in answer.content.decode(), name
    assert stored(theirs) == before


def post(client: Client, venue: Venue, route: str, sent: dict[str, Any], **parameters: Any) -> Any:
    url = reverse(route, kwargs={"venue": venue.public_id} | {name: get_id(row) for name, row in parameters.items()})
    return client.post(url, sent)


@pytest.mark.exhaustive
def test_a_form_of_the_dashboard_takes_no_row_of_another_venue_even_of_the_same_user() -> None:
    """Both venues are of one owner, so that only the row's venue speaks against it."""
    mine, other = builders.venue("Aurora"), builders.venue("Bistro")
    user = users.membership(mine).user
    owner = users.member(other, person=user)
    theirs, own_menu = make_rows(other), builders.menu(mine)
    own_area = Area.objects.create(venue=mine, name="Room")
    own_tables = [builders.table(mine, f"T{number}", area=own_area) for number in (1, 2)]
    own = builders.reservation(mine, customer_name="Guest")
    before = stored(theirs)

    dish = {"name": "Soup", "ref": "soup", "price": "5.00", "tax_percent": "0", "allergens": [], "is_available": "on"}
    assert post(owner, mine, "menu-item-new", dish | {"category": theirs["category"].pk}).status_code == 400
    moved = dish | {"category": theirs["category"].pk}
    assert post(owner, mine, "menu-item", moved, key=own_menu.items.get()).status_code == 400

    table = {"name": "T9", "seats_min": 1, "seats_max": 4, "priority": 0, "is_active": "on"}
    assert post(owner, mine, "setup-new-table", table | {"area": theirs["area"].pk}).status_code == 400
    assert (
        post(owner, mine, "setup-edit-table", table | {"area": theirs["area"].pk}, key=own_tables[0]).status_code
        == 400
    )

    combination = {"name": "T1+X", "seats_min": 5, "seats_max": 8, "priority": 0}
    tables = {"tables": [own_tables[0].pk, theirs["table"].pk]}
    assert post(owner, mine, "setup-new-combination", combination | tables).status_code == 400

    day = {"version": own.version, "day": "2026-12-01", "time": "19:30"}
    post(owner, mine, "reservation-move", day | {"tables": f'["{theirs["table"].name}"]'}, reservation=own)
    booking = {
        "date": "2026-12-01",
        "time": "19:30",
        "party_size": 2,
        "customer_name": "X",
        "customer_phone": "+15550100999",
    }
    assert post(owner, mine, "reservation-new", booking | {"tables": theirs["table"].name}).status_code == 400

    assert (
        post(owner, mine, "guest-merge", {"other": get_id(theirs["reservation"])}, reservation=own).status_code == 404
    )
    for verb in ("complete", "cancel"):
        sent = {verb: get_id(theirs["order"]), "reason": "other", "note": "x"}
        assert post(owner, mine, "board-move", sent).status_code == 404
    invitation = {"email": "new2@example.com", "role": "host", "access": "selected", "venues": [str(other.pk)]}
    Venue.objects.create(account=mine.account, name="Second of mine")
    assert post(owner, mine, "team", invitation).status_code == 400

    assert stored(theirs) == before
    assert own_menu.items.get().category_id == own_menu.categories.get().pk
    assert list(Table.objects.filter(venue=mine).values_list("area", flat=True)) == [own_area.pk] * 2
    assert not Combination.objects.filter(venue=mine).exists()
    assert Reservation.objects.get(pk=own.pk).tables == own.tables
    assert not Invitation.objects.filter(account=mine.account).exists()


@pytest.mark.exhaustive
def test_a_form_of_the_back_office_takes_no_row_of_another_venue() -> None:
    mine, other = builders.venue("Aurora"), builders.venue("Bistro")
    staff = builders.staff()
    theirs, own_menu = make_rows(other), builders.menu(mine)
    before = stored(theirs)
    table = {"venue": mine.pk, "name": "T9", "seats_min": 1, "seats_max": 4, "priority": 0, "is_active": "on"}
    answer = staff.post(address(Table, "add"), table | {"area": theirs["area"].pk})
    assert "This area belongs to another venue." in answer.content.decode()
    tables = [builders.table(mine, "T1").pk, theirs["table"].pk]
    combination = {"venue": mine.pk, "name": "T1+X", "tables": tables, "seats_min": 5, "seats_max": 8, "priority": 0}
    answer = staff.post(address(Combination, "add"), combination)
    assert "These tables belong to another venue" in answer.content.decode()
    dish = {"menu": own_menu.pk, "name": "Soup", "ref": "soup", "price": "5", "tax_percent": "0", "position": 0}
    answer = staff.post(f"{address(MenuItem, 'add')}?menu={own_menu.pk}", dish | {"category": theirs["category"].pk})
    assert "Select a valid choice" in answer.content.decode()
    answer = staff.post(
        f"{address(MenuItem, 'add')}?menu={theirs['dish'].menu_id}", dish | {"category": theirs["category"].pk}
    )
    assert "Select a valid choice" in answer.content.decode()
    booking = {
        "venue": mine.pk,
        "date": "2026-12-01",
        "time": "19:30",
        "party_size": 2,
        "customer_name": "X",
        "customer_phone": "+15550100999",
        "tables": theirs["table"].name,
        "is_confirmed": "on",
    }
    assert staff.post(address(Reservation, "add"), booking).status_code == 200
    assert stored(theirs) == before
    assert (MenuItem.objects.filter(ref="soup").count(), Combination.objects.filter(venue=mine).count()) == (0, 0)
    assert not Reservation.objects.filter(venue=mine).exists()
