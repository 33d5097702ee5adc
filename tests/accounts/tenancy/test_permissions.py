"""What people see in the back office: members of accounts their own venues and nothing of others, staff by role."""

from collections.abc import Callable
from datetime import date, time
from typing import Any

import pytest
from accounts.admin.venue_scoping import VenueScopedAdmin
from django.apps import apps
from django.contrib import admin
from django.contrib.auth.models import Group
from django.test import Client
from django.urls import reverse
from django.utils import timezone

from accounts.models import ApiKey, Event, Role, Venue, WebhookDelivery, WebhookEndpoint
from orders.models import ChargeRule, Menu, MenuItem, ModifierGroup, Order, OrderingSettings, OrderNumber
from reservations.models import Area, CancellationTerms, Closure, Combination, Reservation, ServicePeriod, Table
from tests.support import builders, users

pytestmark = pytest.mark.django_db

SECRET = "Belladonna"
ROLES = list(Role.values)
# A host opens most of the pages, and some are refused.
every_role = pytest.mark.parametrize(
    "role", [role if role == Role.HOST else pytest.param(role, marks=pytest.mark.exhaustive) for role in ROLES]
)


def an_endpoint(venue: Venue) -> WebhookEndpoint:
    return WebhookEndpoint.objects.create(venue=venue, url=f"https://{venue.name.lower()}.example.com", secret=b"x")


def an_event(venue: Venue) -> Event:
    return Event.objects.create(
        venue=venue, type="order.created", actor=venue.name, record={"name": venue.name}, created_at=timezone.now()
    )


def a_delivery(venue: Venue) -> WebhookDelivery:
    return WebhookDelivery.objects.create(
        event=an_event(venue), endpoint=an_endpoint(venue), created_at=timezone.now(), next_attempt_at=timezone.now()
    )


def a_number(venue: Venue) -> OrderNumber:
    builders.order(venue)
    return OrderNumber.objects.get(venue=venue)


def a_menu(venue: Venue) -> Menu:
    return Menu.objects.filter(venue=venue).first() or builders.menu(venue)


def a_dish(venue: Venue) -> MenuItem:
    return builders.dish(a_menu(venue), venue.name.lower())


def two_tables(venue: Venue) -> Combination:
    tables = [builders.table(venue, f"{venue.name}{number}") for number in (1, 2)]
    return builders.combination(venue, *tables, seats_min=5, seats_max=8)


# One row of each kind, in whose text the venue's name stands.
MAKERS: dict[Any, Callable[[Venue], Any]] = {
    Venue: lambda venue: venue,
    ApiKey: lambda venue: ApiKey.create(venue, name=venue.name).row,
    WebhookEndpoint: an_endpoint,
    WebhookDelivery: a_delivery,
    Event: an_event,
    Order: lambda venue: builders.order(venue, customer_id=venue.name),
    OrderNumber: a_number,
    Menu: a_menu,
    MenuItem: a_dish,
    ModifierGroup: lambda venue: a_menu(venue).modifier_groups.create(ref="size", name=venue.name),
    OrderingSettings: lambda venue: OrderingSettings.objects.create(venue=venue),
    ChargeRule: lambda venue: ChargeRule.objects.create(venue=venue, type="fee", name=venue.name, amount=1),
    Area: lambda venue: Area.objects.create(venue=venue, name=venue.name),
    Table: lambda venue: builders.table(venue, venue.name),
    Combination: two_tables,
    ServicePeriod: lambda venue: ServicePeriod.objects.create(
        venue=venue, name=venue.name, weekdays=[0], first_seating=time(18), last_seating=time(21)
    ),
    Closure: lambda venue: Closure.objects.create(
        venue=venue, first_date=date(2027, 1, 1), last_date=date(2027, 1, 2), reason=venue.name
    ),
    CancellationTerms: lambda venue: CancellationTerms.objects.create(venue=venue, free_hours=24),
    Reservation: lambda venue: builders.reservation(venue, customer_name=venue.name),
}


def registered() -> dict[Any, Any]:
    """All that stands in the back office."""
    return {model: admin.site.get_model_admin(model) for model in apps.get_models() if admin.site.is_registered(model)}


def address(model: Any, page: str, *args: Any) -> str:
    """Of a page of the model."""
    its_admin = admin.site.get_model_admin(model)
    return reverse(f"admin:{its_admin.opts.app_label}_{its_admin.opts.model_name}_{page}", args=args)


def works(role: str) -> tuple[Client, Venue, Venue]:
    """Somebody with this role at one venue, and another venue of another account."""
    mine, theirs = builders.venue("Aurora"), builders.venue(SECRET)
    return users.member(mine, role), mine, theirs


def test_every_kind_of_row_that_belongs_to_a_venue_is_tried_here() -> None:
    assert {model for model, its in registered().items() if isinstance(its, VenueScopedAdmin)} == set(MAKERS)


@pytest.mark.exhaustive
@every_role
def test_a_member_sees_nothing_of_another_account_on_any_page(role: str) -> None:
    browser, mine, theirs = works(role)
    for model, maker in MAKERS.items():
        its_admin = registered()[model]
        row = maker(theirs)
        own = maker(mine)
        label = f"{role} {model.__name__}"
        page = browser.get(address(model, "changelist"))
        if page.status_code == 403:
            assert browser.get(address(model, "change", row.pk)).status_code == 403, label
            assert browser.get(address(model, "change", own.pk)).status_code == 403, label
            continue
        assert page.status_code == 200, label
        search = f"?q={SECRET}&o=1"
        found = browser.get(address(model, "changelist") + search, follow=True)
        for query, answer in (("", page), (search, found)):
            text = answer.content.decode()
            # The search itself is shown again.
            shown = text.replace(f'value="{SECRET}"', "").replace(f"q={SECRET}", "").replace(f"q%3D{SECRET}", "")
            assert SECRET not in shown, label + query
            assert str(row.pk) not in text or isinstance(row.pk, int), label + query
        assert SECRET not in browser.get(address(model, "add")).content.decode(), label
        assert SECRET not in browser.get(address(model, "change", own.pk)).content.decode(), label
        before = model.objects.filter(pk=row.pk).values().get()
        answers = [browser.get(address(model, kind, row.pk)) for kind in ("change", "history", "delete")]
        answers += [
            browser.post(address(model, kind, row.pk), {"post": "yes", "name": "taken"})
            for kind in ("change", "delete")
        ]
        assert {answer.status_code for answer in answers} <= {302, 403, 404}, label
        for action in [*its_admin.actions, "delete_selected"]:
            chosen = {
                "action": action,
                "_selected_action": [str(row.pk)],
                "reason": "x",
                "overlap": "2",
                "post": "yes",
            }
            # All of the list, and this one by name; asked first, and said yes.
            answers.append(browser.post(address(model, "changelist"), chosen))
            answers.append(
                browser.post(address(model, "changelist"), {**chosen, "confirmed": "yes", "select_across": "1"})
            )
            answers.append(browser.post(address(model, "changelist"), {**chosen, "confirmed": "yes"}))
        for answer in answers:
            assert SECRET not in answer.content.decode() + " ".join(builders.messages_of(answer)), label
        assert model.objects.filter(pk=row.pk).values().get() == before, label


@pytest.mark.exhaustive
@every_role
def test_what_belongs_to_no_venue_is_not_there_for_members(role: str) -> None:
    browser, *_ = works(role)
    for model, its_admin in registered().items():
        if not isinstance(its_admin, VenueScopedAdmin):
            assert browser.get(address(model, "changelist")).status_code == 403, model
            assert browser.post(address(model, "changelist")).status_code == 403, model
            assert browser.post(address(model, "add")).status_code == 403, model
    for app in ("payments", "catalogue"):
        assert browser.get(f"/admin/{app}/").status_code == 404


@pytest.mark.parametrize("role", ROLES)
def test_a_member_is_offered_only_their_own_venues(role: str) -> None:
    browser, *_ = works(role)
    asked = {"app_label": "orders", "model_name": "menu", "field_name": "venue"}
    answer = browser.get(reverse("admin:autocomplete"), asked)
    assert [each["text"] for each in answer.json()["results"]] == ["Aurora"]


def test_a_member_cannot_add_to_another_venue_by_naming_it() -> None:
    browser, _, theirs = works("owner")
    menu = builders.menu(theirs)
    for model, sent in (
        (Area, {"venue": theirs.pk, "name": "Terrace", "position": 0}),
        (Closure, {"venue": theirs.pk, "first_date": "2027-01-01", "last_date": "2027-01-02", "reason": "x"}),
        (Menu, {"venue": theirs.pk}),
        (ApiKey, {"venue": theirs.pk, "name": "x", "scopes": ["orders:read"]}),
        (WebhookEndpoint, {"venue": theirs.pk, "url": "https://hooks.example.com/x"}),
    ):
        before = model.objects.count()
        answer = browser.post(address(model, "add"), sent)
        assert answer.status_code == 200, model
        assert model.objects.count() == before
    text = browser.get(f"{address(MenuItem, 'add')}?menu={menu.pk}").content.decode()
    assert SECRET not in text
    assert "Dishes" not in text


def test_a_role_counts_where_it_was_given_and_not_where_another_was() -> None:
    kitchen, owned = builders.venue("Aurora"), builders.venue("Bistro")
    user = users.membership(kitchen, "kitchen").user
    browser = users.member(owned, "owner", person=user)
    row, own = ApiKey.create(kitchen, name="theirs").row, ApiKey.create(owned, name="mine").row
    assert "theirs" not in browser.get(address(ApiKey, "changelist")).content.decode()
    dish = a_dish(kitchen)
    assert browser.get(address(MenuItem, "change", dish.pk)).status_code == 200
    assert browser.post(address(MenuItem, "change", dish.pk), {"name": "x"}).status_code == 403
    chosen = {"action": "revoke", "_selected_action": [str(row.pk), str(own.pk)], "confirmed": "yes"}
    browser.post(address(ApiKey, "changelist"), chosen)
    row.refresh_from_db()
    own.refresh_from_db()
    assert (row.revoked_at, own.revoked_at is None) == (None, False)


def test_a_filter_does_not_read_what_hangs_on_a_row() -> None:
    browser, mine, _ = works("kitchen")
    builders.reservation(mine, customer_email="guest@example.com")
    answer = browser.get(address(Venue, "changelist"), {"reservations__customer_email__startswith": "guest"})
    assert answer.status_code == 400


def test_the_kitchen_sells_out_a_dish_and_does_not_price_it() -> None:
    browser, mine, _ = works("kitchen")
    dish = a_dish(mine)
    browser.post(address(MenuItem, "changelist"), {"action": "sell_out", "_selected_action": [str(dish.pk)]})
    dish.refresh_from_db()
    assert dish.sold_out_on is not None
    assert browser.post(address(MenuItem, "change", dish.pk), {"price": "1"}).status_code == 403


def test_what_a_key_may_use_is_not_for_members_to_say() -> None:
    browser, mine, _ = works("owner")
    sent = {"venue": mine.pk, "name": "till", "scopes": ["orders:read"], "allowance": 999_999}
    browser.post(address(ApiKey, "add"), sent)
    assert ApiKey.objects.get(venue=mine, name="till").allowance == 1000


def test_a_closed_account_opens_nothing() -> None:
    browser, mine, _ = works("owner")
    mine.account.closed_at = timezone.now()
    mine.account.save()
    assert browser.get("/admin/").status_code == 302


def test_a_group_gives_nothing_to_who_is_not_of_our_staff() -> None:
    mine = builders.venue("Aurora")
    person = users.membership(mine, "owner").user
    person.groups.add(Group.objects.get_or_create(name="Finance")[0])
    assert users.signed_in(person).get("/admin/payments/payment/").status_code == 403


@pytest.mark.exhaustive
@pytest.mark.parametrize(
    ("role", "may", "may_not"),
    [
        ("Data editor", ["catalogue_restaurant", "catalogue_report"], ["payments_payment", "orders_order"]),
        ("Finance", ["payments_payment", "payments_price", "accounts_account"], ["orders_order", "catalogue_review"]),
        ("Support", ["orders_order", "accounts_apikey", "payments_payment"], ["payments_price", "payments_plan"]),
    ],
)
def test_our_staff_see_what_their_role_needs(role: str, may: list[str], may_not: list[str]) -> None:
    person = users.user(is_staff=True)
    person.groups.add(Group.objects.get_or_create(name=role)[0])
    browser = users.signed_in(person)
    assert [browser.get(reverse(f"admin:{name}_changelist")).status_code for name in may] == [200] * len(may)
    assert [browser.get(reverse(f"admin:{name}_changelist")).status_code for name in may_not] == [403] * len(may_not)


def test_staff_without_a_role_see_how_to_get_one() -> None:
    page = users.signed_in(users.user(is_staff=True)).get("/admin/")
    assert (page.status_code, "You can sign in here, but you have no role." in page.content.decode()) == (200, True)


def test_our_staff_with_a_membership_elsewhere_have_no_more_rights_at_other_venues() -> None:
    mine, theirs = builders.venue("Aurora"), builders.venue(SECRET)
    person = users.membership(mine, "owner", person=users.user(is_staff=True)).user
    browser = users.signed_in(person)
    assert browser.get(f"/dashboard/{theirs.public_id}").status_code == 404
    assert SECRET not in browser.get(address(Order, "changelist")).content.decode()
