"""Who may open the back office: our staff by their groups, and no member of an account."""

from collections.abc import Callable
from datetime import date, time, timedelta
from typing import Any

import pytest
from django.apps import apps
from django.contrib import admin
from django.contrib.auth.models import Group
from django.urls import reverse
from django.utils import timezone

from accounts.models import (
    Account,
    ApiKey,
    Event,
    Membership,
    OAuthApp,
    OAuthGrant,
    Role,
    User,
    Venue,
    WebhookDelivery,
    WebhookEndpoint,
)
from accounts.oauth import registration
from orders.models import (
    ChargeRule,
    CheckoutSession,
    Menu,
    MenuItem,
    ModifierGroup,
    Order,
    OrderingSettings,
    OrderNumber,
)
from reservations.models import Area, CancellationTerms, Closure, Combination, Reservation, ServicePeriod, Table
from tests.support import builders, users

pytestmark = pytest.mark.django_db


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
def a_grant(venue: Venue) -> OAuthGrant:
    """What somebody has granted to an app of that name."""
    now = timezone.now()
    app = OAuthApp.objects.create(kind="dynamic", name=venue.name, redirect_uris=["https://pos.example.com/callback"])
    return OAuthGrant.objects.create(
        app=app,
        account=venue.account,
        user=users.user(),
        venue=venue,
        resource="management",
        scopes=["orders:read"],
        created_at=now,
        expires_at=now + timedelta(days=1),
    )


def a_checkout(venue: Venue) -> CheckoutSession:
    now = timezone.now()
    return CheckoutSession.objects.create(
        venue=venue, agent=f"https://{venue.pk}.example", created_at=now, updated_at=now, expires_at=now
    )


MAKERS: dict[Any, Callable[[Venue], Any]] = {
    Venue: lambda venue: venue,
    ApiKey: lambda venue: ApiKey.create(venue, name=venue.name).row,
    OAuthApp: lambda venue: registration.register_app(
        venue.account, name=venue.name, uris=["https://pos.example.com/callback"], own_scopes=[]
    )[0],
    OAuthGrant: a_grant,
    WebhookEndpoint: an_endpoint,
    WebhookDelivery: a_delivery,
    Event: an_event,
    Order: lambda venue: builders.order(venue, customer_id=venue.name),
    OrderNumber: a_number,
    CheckoutSession: a_checkout,
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


def test_every_kind_of_row_that_belongs_to_a_customer_is_tried_here() -> None:
    apps_of_customers = {"accounts", "orders", "reservations"}
    listed = {model for model in registered() if model._meta.app_label in apps_of_customers}
    assert listed - {Account, User} == set(MAKERS)


@pytest.mark.parametrize("role", Role.values)
def test_no_role_of_a_venue_opens_the_back_office(role: str) -> None:
    member = users.member(builders.venue("Aurora"), role)
    assert [member.get(path)["Location"] for path in ("/admin/", address(Order, "changelist"))] == ["/dashboard/"] * 2


@pytest.mark.exhaustive
def test_each_page_of_the_back_office_sends_an_owner_to_the_dashboard() -> None:
    venue = builders.venue("Aurora")
    member = users.member(venue)
    member_user = Membership.objects.get().user
    # A group of our staff gives nothing to who is not of our staff.
    member_user.groups.add(Group.objects.get_or_create(name="Finance")[0])
    assert member_user.get_all_permissions() == set()
    pages = ["/admin/", "/admin/search/?q=Aurora", f"{reverse('admin:autocomplete')}?app_label=orders&model_name=menu"]
    pages += [address(model, page) for model in registered() for page in ("changelist", "add")]
    for page in pages:
        answer = member.get(page)
        assert (answer.status_code, answer.headers.get("Location")) == (302, "/dashboard/"), page
    for model, maker in MAKERS.items():
        row = maker(venue)
        for page in (address(model, "changelist"), address(model, "change", row.pk), address(model, "delete", row.pk)):
            answer = member.post(page, {"post": "yes"})
            assert (answer.status_code, "Access denied" in answer.content.decode()) == (403, True), page


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
    mine, theirs = builders.venue("Aurora"), builders.venue("Belladonna")
    person = users.membership(mine, "owner", person=users.user(is_staff=True)).user
    browser = users.signed_in(person)
    assert browser.get(f"/dashboard/{theirs.public_id}").status_code == 404
    assert browser.get(address(Order, "changelist")).status_code == 403
