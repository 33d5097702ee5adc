"""The front page of the back office: what waits for somebody, as a number that leads to it."""

import re
from datetime import timedelta
from typing import Any

import pytest
from django.contrib import admin
from django.contrib.auth.models import Group
from django.db import connection
from django.http import HttpRequest
from django.test import RequestFactory
from django.test.utils import CaptureQueriesContext
from django.utils import timezone

from accounts.models import Account, ApiKey
from catalogue import insights
from catalogue.models import Export, Insight, MatchCandidate, Report
from framework.admin.large_tables import BoundedActions
from framework.admin.pending_counts import PendingCount
from framework.django_internals import model_admins
from orders import commands
from orders.models import Order
from payments.models import Payment
from tests.catalogue import builders as places
from tests.support import builders, users

pytestmark = pytest.mark.django_db


def tiles(*models: Any) -> list[tuple[str, str]]:
    """What these tell on the front page."""
    result: list[PendingCount] = []
    for model in models:
        part: Any = admin.site.get_model_admin(model)
        result.extend(part.pending_counts(a_request()))
    return [(each.label, each.shown) for each in result]


def a_request() -> HttpRequest:
    """Of somebody of our staff."""
    request = RequestFactory().get("/admin/")
    request.user = users.user(is_staff=True)
    return request


def a_failed_export(days: int) -> Export:
    """One that failed so many days ago."""
    at = timezone.now() - timedelta(days=days)
    return Export.objects.create(
        dataset="restaurants",
        format="csv",
        fingerprint=f"{days}",
        queue="free",
        created_at=at,
        status="failed",
        error="x",
    )


@pytest.mark.exhaustive
def test_the_front_page_costs_the_same_whatever_waits() -> None:
    browser = builders.staff()
    with CaptureQueriesContext(
        connection,
    ) as empty:
        assert browser.get("/admin/").status_code == 200
    a_failed_export(1)
    Report.objects.create(restaurant=places.restaurant(), kind="other", reporter="x", created_at=timezone.now())
    with CaptureQueriesContext(connection) as filled:
        text = browser.get("/admin/").content.decode()
    # Six of them count tables that PostgreSQL has never analysed.
    assert (len(filled), len(filled) <= 30) == (len(empty), True)
    assert "<b>1</b> <span>exports failed in 7 days</span>" in text
    assert "<b>1</b> <span>open reports</span>" in text


def test_nothing_waits_at_first() -> None:
    assert tiles(Export, Payment, Report, MatchCandidate, Insight) == [
        ("exports failed in 7 days", "0"),
        ("refunds due", "0"),
        ("refund requests", "0"),
        ("open reports", "0"),
        ("possible duplicates", "0"),
    ]


def test_export_that_failed_long_ago_shows_no_progress_in_record_and_list() -> None:
    late, _ = a_failed_export(1), a_failed_export(30)
    part: Any = admin.site.get_model_admin(Export)
    (tile,) = part.pending_counts(a_request())
    page = builders.staff().get(tile.url)
    assert (tile.shown, page.status_code) == ("1", 200)
    assert list(page.context["cl"].queryset) == [late]


@pytest.mark.parametrize(("approval", "shown"), [("all", "1"), ("models", "0")])
def test_insights_wait_where_staff_approve_them(settings: Any, approval: str, shown: str) -> None:
    made = places.restaurant()
    for number in range(5):
        places.review(made, f"The gyoza was good & the staff kind, I am number {number} <3")
    insights.refresh(now=timezone.now(), max_reviews=100)
    settings.INSIGHT_APPROVAL = approval
    assert tiles(Insight) == [("insights to approve", shown)]
    Insight.objects.update(provider="openai")
    assert tiles(Insight) == [("insights to approve", "1")]
    Insight.objects.update(approved_at=timezone.now())
    assert tiles(Insight) == [("insights to approve", "0")]


def test_staff_without_the_right_do_not_see_refunds_due() -> None:
    person = users.user(is_staff=True)
    person.groups.add(Group.objects.get_or_create(name="Data editor")[0])
    text = users.signed_in(person).get("/admin/").content.decode()
    assert ("refunds due" in text, "open reports" in text) == (False, True)


def test_more_rows_than_one_request_can_act_on_are_refused_with_words(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(BoundedActions, "MAX_SELECTED", 2)
    venue, browser = builders.venue(), builders.staff()
    keys = [ApiKey.create(venue, name="till").row for _ in range(3)]
    chosen = {"action": "revoke", "_selected_action": [str(keys[0].pk)], "select_across": "1"}
    for more in ({}, {"confirmed": "yes"}):
        answer = browser.post("/admin/accounts/apikey/?q=till", {**chosen, **more})
        assert (answer.status_code, answer["Location"]) == (302, "/admin/accounts/apikey/?q=till")
        assert builders.messages_of(answer)[-1] == (
            "Nothing was changed: an action can process at most 2 rows."
            " Narrow the list with a filter or a search first."
        )
    assert ApiKey.objects.filter(revoked_at=None).count() == 3
    keys[0].delete()
    browser.post("/admin/accounts/apikey/?q=till", {**chosen, "confirmed": "yes"})
    assert ApiKey.objects.filter(revoked_at=None).count() == 0


def test_every_list_with_actions_of_its_own_bounds_them() -> None:
    parts = {str(part.opts.label) for part in model_admins(admin.site).values() if part.actions}
    bounded = {str(part.opts.label) for part in model_admins(admin.site).values() if isinstance(part, BoundedActions)}
    assert parts - bounded == set()


def test_the_front_page_shows_what_waits_and_names_the_rest() -> None:
    Report.objects.create(restaurant=places.restaurant(), kind="other", reporter="x", created_at=timezone.now())
    page = builders.staff().get("/admin/")
    assert [count.label for count in page.context["waiting"]] == ["open reports"]
    text = page.content.decode()
    assert text.index("<b>1</b> <span>open reports</span>") < text.index(">No refunds due</a>")
    assert " mine" not in text


def test_what_has_waited_longest_is_the_first() -> None:
    a_failed_export(2)
    created_at = timezone.now() - timedelta(hours=3)
    Report.objects.create(restaurant=places.restaurant(), kind="other", reporter="x", created_at=created_at)
    text = builders.staff().get("/admin/").content.decode()
    ages = re.findall(r"<span>([\w ]+)</span></a>(?:.*?)<span class=\"age\">oldest waits ([^<]+)<", text)
    assert [(label, age.replace("\xa0", " ")) for label, age in ages] == [
        ("exports failed in 7 days", "2 days"),
        ("open reports", "3 hours"),
    ]


def test_pending_orders_and_reservations_tell_the_age_of_the_oldest() -> None:
    venue, other, now = builders.venue(), builders.venue(), timezone.now()
    for owner, hours in ((venue, 2), (other, 5), (other, 1)):
        builders.order(owner, now=now - timedelta(hours=hours))
    commands.change_status(
        builders.order(other, now=now - timedelta(hours=9)), Order.Status.COMPLETED, now=now, actor="test"
    )
    (count,) = admin.site.get_model_admin(Order).pending_counts(a_request())  # type: ignore[attr-defined]
    assert (count.number, count.age.replace("\xa0", " ")) == (3, "5 hours")


def test_the_front_page_lists_the_newest_accounts_and_the_changes_of_staff() -> None:
    for number in range(7):
        Account.objects.create(name=f"Account {number}")
    browser = builders.staff()
    text = browser.get("/admin/").content.decode()
    assert re.findall(r"<bdi>(Account \d)</bdi></a>", text) == [f"Account {number}" for number in (6, 5, 4, 3, 2)]
    assert re.search(r'Accounts <span class="about"><span class="visually-hidden">about </span>\d+</span>', text)
    assert "None yet. What staff add, change or delete here is listed with its time." in text
    group = Group.objects.create(name="Kitchen")
    browser.post(f"/admin/auth/group/{group.pk}/change/", {"name": "Cooks"})
    assert re.search(r">Cooks</a>\s+<span class=\"quiet\">Changed, group, ", browser.get("/admin/").content.decode())
