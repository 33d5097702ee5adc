"""Queues of the back office with an assignee."""

from concurrent.futures import ThreadPoolExecutor
from threading import Barrier
from typing import Any

import pytest
from django.contrib.auth.models import Group
from django.db import connection
from django.test import Client
from django.utils import timezone

from accounts.models import Assignment, User, Venue, WebhookEndpoint
from catalogue.models import Export, Insight, MatchCandidate, Report, RestaurantClaim
from framework.public_ids import new_id
from payments.models import Payment
from tests.catalogue import builders as places
from tests.catalogue.claims.claim_builders import claimed
from tests.payments.ledger_builders import refund_due
from tests.support import builders, users

pytestmark = pytest.mark.django_db

REPORTS = "/admin/catalogue/report/"
CLAIMS = "/admin/catalogue/restaurantclaim/"


def make_reports(number: int) -> list[Report]:
    restaurant = places.restaurant()
    now = timezone.now()
    return [
        Report.objects.create(restaurant=restaurant, kind="other", reporter=f"{index}", created_at=now)
        for index in range(number)
    ]


def a_colleague(email: str = "colleague@example.com") -> Client:
    return users.signed_in(users.user(email, is_staff=True, is_superuser=True))


def act(client: Client, action: str, rows: list[Any], path: str = REPORTS, **more: Any) -> list[str]:
    keys = [str(row.pk) for row in rows]
    answer = client.post(path, {"action": action, "_selected_action": keys, "confirmed": "yes", **more})
    return builders.messages_of(answer)


def keys_listed(client: Client, query: str, path: str = REPORTS) -> set[Any]:
    return {row.pk for row in client.get(f"{path}{query}").context["cl"].result_list}


@pytest.mark.exhaustive
def test_rows_are_taken_by_one_user_and_released_by_the_same() -> None:
    first, second, third = make_reports(3)
    mine, other = builders.staff(), a_colleague()
    assert act(mine, "take", [first, second]) == ["2 assigned to you."]
    assert act(other, "take", [second, third])[-2:] == ["1 assigned to you.", "1 assigned to others already."]
    assert keys_listed(mine, "?assignee=mine") == {first.pk, second.pk}
    assert keys_listed(other, "?assignee=mine") == {third.pk}
    assert act(other, "release", [first, third])[-1] == "1 released."
    assert keys_listed(mine, "?assignee=none") == {third.pk}
    page = other.get(REPORTS)
    assert [row.assignee_email for row in page.context["cl"].result_list].count("") == 1


def test_a_row_is_assigned_to_a_user_of_our_staff_whoever_had_it() -> None:
    (report,) = make_reports(1)
    mine, _ = builders.staff(), a_colleague()
    act(mine, "take", [report])
    colleague, guest = User.objects.get(email="colleague@example.com"), users.user("guest@example.com")
    assert act(mine, "assign", [report], assignee=colleague.pk)[-1] == "1 assigned to colleague@example.com."
    keys = {"_selected_action": [str(report.pk)], "action": "assign", "confirmed": "yes"}
    assert mine.post(REPORTS, keys | {"assignee": guest.pk}).status_code == 400
    assert [row.user for row in Assignment.objects.all()] == [colleague]


@pytest.mark.exhaustive
def test_the_page_of_a_row_takes_and_releases_it() -> None:
    (report,) = make_reports(1)
    mine, other = builders.staff(), a_colleague()
    page = f"{REPORTS}{report.pk}/change/"
    assert "Not assigned" in mine.get(page).content.decode()
    assert mine.post(page, {"verdict": "take"})["Location"] == page
    assert "Assigned to you" in mine.get(page).content.decode()
    assert "Assigned to <bdi>" in other.get(page).content.decode()
    other.post(page, {"verdict": "take"})
    other.post(page, {"verdict": "release"})
    assert keys_listed(mine, "?assignee=mine") == {report.pk}
    mine.post(page, {"verdict": "release"})
    assert not Assignment.objects.exists()


def test_the_front_page_counts_the_open_rows_and_the_users_own() -> None:
    first, second = make_reports(2)
    mine = builders.staff()
    act(mine, "take", [first, second])
    Report.objects.filter(pk=second.pk).update(state="dismissed", decided_at=timezone.now())
    page = mine.get("/admin/").context
    counts = {count.label: count for count in (*page["waiting"], *page["clear"])}
    assert (counts["open reports"].number, counts["open reports"].mine) == (1, 1)
    assert keys_listed(mine, counts["open reports"].mine_url.removeprefix(REPORTS)) == {first.pk}
    assert counts["pending orders"].mine_url == ""


@pytest.mark.exhaustive
def test_refunds_and_insights_have_assignees() -> None:
    payment, other_payment, insight = refund_due(1), refund_due(2), places.insight(places.restaurant())
    mine = builders.staff()
    for row, path in ((payment, "/admin/payments/payment/"), (insight, "/admin/catalogue/insight/")):
        assert act(mine, "take", [row], path)[-1] == "1 assigned to you."
        assert keys_listed(mine, "?assignee=mine", path) == {row.pk}
    assert keys_listed(mine, "?assignee=none", "/admin/payments/payment/") == {other_payment.pk}
    assert (Insight.objects.count(), Payment.objects.count()) == (1, 2)


@pytest.mark.exhaustive
@pytest.mark.django_db(transaction=True)
def test_two_users_who_take_the_same_rows_share_them_out() -> None:
    people = [users.user(is_staff=True) for _ in range(2)]
    keys = [new_id() for _ in range(200)]
    start = Barrier(2)

    def take(person: User, order: list[Any]) -> int:
        try:
            start.wait(timeout=10)
            return sum(
                Assignment.objects.take(Report, order[at : at + 20], user=person, now=timezone.now())
                for at in range(0, len(order), 20)
            )
        finally:
            connection.close()

    with ThreadPoolExecutor(2) as threads:
        taken = [threads.submit(take, person, order) for person, order in zip(people, (keys, keys[::-1]), strict=True)]
        numbers = [each.result() for each in taken]
    assert sum(numbers) == 200 == Assignment.objects.count()


@pytest.mark.exhaustive
def test_all_rows_of_a_queue_are_those_that_its_list_shows(venue: Venue, other_venue: Venue) -> None:
    verified = claimed(places.restaurant(), venue)
    waiting = claimed(places.restaurant(), other_venue, state="open", decided_at=None)
    staff, sent = builders.staff(), {"action": "end", "_selected_action": [str(waiting.pk)], "select_across": "1"}
    page = staff.post(CLAIMS, sent).content.decode()
    listed = f"<li><bdi>{waiting.public_id}</bdi>, <bdi>{waiting.restaurant}</bdi>, <bdi>{other_venue}</bdi></li>"
    assert (listed in page, verified.public_id in page) == (True, False)
    staff.post(CLAIMS, sent | {"confirmed": "yes"})
    assert [RestaurantClaim.objects.get(pk=row.pk).state for row in (verified, waiting)] == ["verified", "ended"]
    # A row that is chosen by itself may be of any state.
    act(staff, "end", [verified], CLAIMS)
    verified.refresh_from_db()
    assert verified.state == "ended"


@pytest.mark.exhaustive
def test_a_decision_ends_the_assignment() -> None:
    reports = make_reports(3)
    staff = builders.staff()
    act(staff, "take", reports)
    staff.post(f"{REPORTS}{reports[0].pk}/change/", {"verdict": "dismiss"})
    assert Assignment.objects.count() == 2
    act(staff, "dismiss", reports[1:2])
    assert [row.object_id for row in Assignment.objects.all()] == [str(reports[2].pk)]


def test_a_row_of_an_inactive_user_has_no_assignee() -> None:
    (report,) = make_reports(1)
    mine, other = builders.staff(), a_colleague()
    act(other, "take", [report])
    User.objects.filter(email="colleague@example.com").update(is_active=False)
    assert keys_listed(mine, "?assignee=none") == {report.pk}
    assert act(mine, "take", [report])[-1] == "1 assigned to you."
    assert keys_listed(mine, "?assignee=mine") == {report.pk}


@pytest.mark.exhaustive
def test_support_takes_what_it_only_views(venue: Venue) -> None:
    person = users.user(is_staff=True)
    person.groups.add(Group.objects.get_or_create(name="Support")[0])
    endpoint = WebhookEndpoint.objects.create(venue=venue, url="https://hooks.example.com", secret=b"x")
    export = Export.objects.create(dataset="restaurants", format="jsonl", created_at=timezone.now())
    for row, path in ((endpoint, "/admin/accounts/webhookendpoint/"), (export, "/admin/catalogue/export/")):
        assert act(users.signed_in(person), "take", [row], path)[-1] == "1 assigned to you."


def test_a_pair_of_duplicates_has_the_names_of_its_restaurants() -> None:
    first, second = places.restaurant(name="Ada's"), places.restaurant(name="Ada")
    assert str(MatchCandidate(first=first, second=second)) == "Ada's / Ada"
