"""Reports: what readers say is wrong, and what staff make of it."""

import threading
from datetime import timedelta
from typing import Any

import pytest
from django.contrib.auth import get_user_model
from django.db import connection
from django.test import Client
from django.utils import timezone

from accounts.models import User
from catalogue import places
from catalogue.models import MatchCandidate, Report, Restaurant, Version
from catalogue.moderation import reports
from framework.public_ids import encode
from tests.catalogue import builders
from tests.catalogue.builders import NOW

pytestmark = pytest.mark.django_db


def staff(name: str = "ada@tablewire.test") -> User:
    return get_user_model().objects.create_superuser(email=name, password="correct horse")


def send(client: Client, slug: str = "noma", *, address: str = "192.0.2.1", **body: Any) -> Any:
    given = {"kind": "closed", **body}
    return client.post(f"/v1/restaurants/{slug}/reports", given, content_type="application/json", REMOTE_ADDR=address)


def filed(place: Restaurant, kind: str = "closed", **fields: Any) -> Report:
    given = {"reporter": "f" * 64, "created_at": NOW, **fields}
    return Report.objects.create(restaurant=place, kind=kind, **given)


# Taking in
def test_a_report_is_taken_in_without_a_key(client: Client) -> None:
    place = builders.restaurant(slug="noma")
    response = send(client, kind="hours_wrong", text="Closed\non Mondays.", contact="ada@example.com")
    report = Report.objects.get()
    assert response.status_code == 201
    shown = response.json()
    assert shown.pop("created_at").endswith("Z")
    assert shown == {"id": encode("rep", report.pk), "kind": "hours_wrong", "state": "open"}
    assert (report.restaurant_id, report.text, report.contact) == (place.pk, "Closed\non Mondays.", "ada@example.com")
    assert "192.0.2.1" not in report.reporter
    assert response["RateLimit-Policy"] == '"reports";q=5;w=60'


def test_the_same_report_is_one_while_it_is_open(client: Client) -> None:
    builders.restaurant(slug="noma")
    first, again = send(client, text="Really!"), send(client, text="Really!")
    assert (first.status_code, again.status_code) == (201, 200)
    assert first.json() == again.json()
    assert send(client, kind="moved").status_code == 201
    assert send(client, address="192.0.2.2").status_code == 201
    assert Report.objects.count() == 3
    reports.dismiss_report(Report.objects.get(kind="moved"), staff=staff(), now=NOW)
    assert send(client, kind="moved").status_code == 201


def test_what_says_something_else_is_another_report(client: Client) -> None:
    builders.restaurant(slug="noma")
    builders.restaurant(slug="noma-2")
    builders.restaurant(slug="noma-3")
    messages: list[dict[str, Any]] = [
        {},
        {"text": "Really!"},
        {"kind": "duplicate", "same_as": "noma-2"},
        {"kind": "duplicate", "same_as": "noma-3"},
    ]
    assert [send(client, **body).status_code for body in messages] == [201] * 4
    assert set(Report.objects.values_list("text", "same_as__slug")) == {
        ("", None),
        ("Really!", None),
        ("", "noma-2"),
        ("", "noma-3"),
    }


def test_one_reader_cannot_fill_the_queue_of_a_restaurant() -> None:
    builders.restaurant(slug="noma")
    for number in range(5):
        reports.file_report("noma", kind="other", text=f"{number}", reporter="a", now=NOW)
    with pytest.raises(reports.TooManyReports):
        reports.file_report("noma", kind="other", text="5", reporter="a", now=NOW)
    assert reports.file_report("noma", kind="other", text="4", reporter="a", now=NOW).is_new is False
    assert Report.objects.count() == 5


def test_a_duplicate_names_the_other_one(client: Client) -> None:
    builders.restaurant(slug="noma")
    other = builders.restaurant(slug="noma-2")
    gone = builders.restaurant(slug="noma-3", merged_into=other)
    assert send(client, kind="duplicate", same_as="noma-2").status_code == 201
    assert Report.objects.get().same_as == other
    assert send(client, kind="duplicate", same_as=gone.slug, address="192.0.2.2").status_code == 201
    assert set(Report.objects.values_list("same_as", flat=True)) == {other.pk}


@pytest.mark.parametrize(
    ("body", "param"),
    [
        ({"kind": "burnt"}, "kind"),
        ({"kind": "duplicate"}, "same_as"),
        ({"kind": "duplicate", "same_as": "noma"}, "same_as"),
        ({"kind": "duplicate", "same_as": "nowhere"}, "same_as"),
        ({"kind": "closed", "same_as": "noma-2"}, "same_as"),
        ({"text": "x" * 1001}, "text"),
        ({"contact": "nobody"}, "contact"),
        ({"state": "applied"}, "state"),
    ],
)
def test_a_report_that_makes_no_sense_is_refused_by_name(client: Client, body: dict[str, Any], param: str) -> None:
    builders.restaurant(slug="noma")
    builders.restaurant(slug="noma-2")
    response = send(client, **body)
    error = response.json()["error"]
    assert (response.status_code, error["code"], error["param"]) == (400, "invalid_request", param)
    assert not Report.objects.exists()


def test_a_report_about_what_is_not_there_is_refused(client: Client) -> None:
    survivor = builders.restaurant(slug="noma")
    builders.restaurant(slug="old", merged_into=survivor)
    builders.restaurant(slug="erased", erased_at=NOW)
    assert [send(client, slug).status_code for slug in ("nowhere", "old", "erased")] == [404, 308, 410]
    assert not Report.objects.exists()


def test_a_minute_has_five_reports_of_an_address(client: Client) -> None:
    builders.restaurant(slug="noma")
    assert [send(client).status_code for _ in range(6)] == [201, 200, 200, 200, 200, 429]
    assert send(client, address="192.0.2.2").status_code == 201
    assert client.get("/v1/restaurants/noma", REMOTE_ADDR="192.0.2.1").status_code == 200


@pytest.mark.exhaustive
def test_a_day_has_thirty_reports_of_an_address_whatever_became_of_them(client: Client) -> None:
    reporter = reports.hash_reporter("192.0.2.1")
    now = timezone.now()
    for number in range(30):
        at = now - timedelta(hours=23, minutes=59 if number == 0 else number)
        filed(builders.restaurant(), reporter=reporter, created_at=at, state="dismissed", decided_at=now)
    builders.restaurant(slug="noma")
    response = send(client)
    error = response.json()["error"]
    assert (response.status_code, error["code"]) == (429, "rate_limit_exceeded")
    assert 0 < int(response["Retry-After"]) <= 60
    assert Report.objects.count() == 30
    Report.objects.filter(created_at=now - timedelta(hours=23, minutes=59)).update(created_at=now - timedelta(days=1))
    assert send(client).status_code == 201


def test_a_restaurant_has_twenty_open_reports_at_most(client: Client) -> None:
    place = builders.restaurant(slug="noma")
    for number in range(20):
        filed(place, reporter=f"{number:064}")
    response = send(client)
    assert (response.status_code, response["Retry-After"]) == (429, "3600")
    assert "wait for our staff" in response.json()["error"]["message"]
    reports.dismiss_report(place.reports.all()[0], staff=staff(), now=NOW)
    assert send(client).status_code == 201


@pytest.mark.django_db(transaction=True)
def test_of_many_equal_concurrent_reports_one_is_stored_within_the_limits() -> None:
    place = builders.restaurant(slug="noma")
    for number in range(18):
        filed(place, reporter=f"{number:064}")
    outcomes: list[str] = []

    def report(reporter: str) -> None:
        try:
            found = reports.file_report("noma", kind="closed", reporter=reporter, now=NOW)
            outcomes.append("new" if found.is_new else "known")
        except reports.TooManyReports:
            outcomes.append("refused")
        finally:
            connection.close()

    threads = [threading.Thread(target=report, args=[name]) for name in ["a", "a", "b", "b", "c", "d"]]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert (place.reports.filter(state="open").count(), outcomes.count("new")) == (20, 2)


# Deciding
def test_closed_that_is_right_closes_for_good_in_the_name_of_who_decided() -> None:
    place, ada = builders.restaurant(), staff()
    report = filed(place)
    assert reports.accept_report(report, staff=ada, now=NOW)
    place.refresh_from_db()
    report.refresh_from_db()
    assert (place.status, place.locked_fields) == ("permanently_closed", ["status"])
    assert (report.state, report.decided_at, report.decided_by) == ("applied", NOW, ada)
    assert Version.objects.get(restaurant=place, version=2).actor == f"staff:{ada.pk}"


def test_a_duplicate_that_is_right_goes_to_the_queue_of_pairs() -> None:
    place, other, ada = builders.restaurant(), builders.restaurant(), staff()
    for twin, same_as in ((place, other), (other, place)):
        assert reports.accept_report(filed(twin, "duplicate", same_as=same_as), staff=ada, now=NOW)
    pair = MatchCandidate.objects.get()
    assert {pair.first_id, pair.second_id} == {place.pk, other.pk}
    assert (pair.state, pair.score) == ("open", 1.0)


def test_a_dismissed_report_changes_nothing_but_itself() -> None:
    place, ada = builders.restaurant(), staff()
    report = filed(place)
    assert reports.dismiss_report(report, staff=ada, now=NOW)
    report.refresh_from_db()
    place.refresh_from_db()
    assert (report.state, report.decided_by, place.status, place.version) == ("dismissed", ada, "open", 1)


@pytest.mark.django_db(transaction=True)
def test_of_two_who_decide_at_once_one_wins() -> None:
    place, ada = builders.restaurant(), staff()
    report = filed(place)
    begin, won = threading.Barrier(2), []

    def decide(verb: Any) -> None:
        try:
            begin.wait(10)
            won.append((verb.__name__, verb(report, staff=ada, now=NOW)))
        finally:
            connection.close()

    threads = [
        threading.Thread(target=decide, args=[verb]) for verb in (reports.accept_report, reports.dismiss_report)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    place.refresh_from_db()
    report.refresh_from_db()
    (winner,) = [name for name, has_won in won if has_won]
    expected = ("applied", "permanently_closed") if winner == "accept_report" else ("dismissed", "open")
    assert (report.state, place.status) == expected


# In the admin
@pytest.fixture
def desk(client: Client) -> Client:
    """A member of staff at the admin."""
    client.force_login(staff())
    return client


LIST = "/admin/catalogue/report/"


def act(desk: Client, action: str, *chosen: Report) -> Any:
    keys = [str(report.pk) for report in chosen]
    return desk.post(LIST, {"action": action, "_selected_action": keys, "confirmed": "yes"}, follow=True)


def test_staff_see_the_oldest_open_report_first(desk: Client) -> None:
    late = filed(builders.restaurant(name="Late"), created_at=NOW)
    early = filed(builders.restaurant(name="Early"), created_at=NOW - timedelta(days=1))
    filed(builders.restaurant(name="Done"), state="dismissed", decided_at=NOW)
    page = desk.get(LIST)
    assert [report.pk for report in page.context["cl"].result_list] == [early.pk, late.pk]
    assert "Done" in desk.get(f"{LIST}?state__exact=dismissed").content.decode()
    assert desk.get(f"{LIST}{early.pk}/change/").status_code == 200


@pytest.mark.exhaustive
def test_staff_apply_and_dismiss_from_the_list(desk: Client) -> None:
    right, wrong = filed(builders.restaurant()), filed(builders.restaurant())
    assert "1 report was applied." in act(desk, "apply", right).content.decode()
    assert "1 report was dismissed." in act(desk, "dismiss", wrong).content.decode()
    assert set(Report.objects.values_list("state", flat=True)) == {"applied", "dismissed"}
    assert "1 report was already decided." in act(desk, "dismiss", right).content.decode()
    assert Report.objects.get(pk=right.pk).state == "applied"


def test_applying_what_is_mended_by_hand_opens_the_restaurant(desk: Client) -> None:
    place = builders.restaurant()
    response = act(desk, "apply", filed(place, "phone_wrong"))
    assert response.redirect_chain[-1][0] == f"/admin/catalogue/restaurant/{place.pk}/change/"
    assert Report.objects.get().state == "applied"


def test_a_status_that_a_place_has_already_is_locked_as_well() -> None:
    place = builders.restaurant(status="permanently_closed")
    chosen = Restaurant.objects.filter(pk=place.pk)
    assert chosen.set_status("permanently_closed", now=NOW) == 1
    assert chosen.set_status("permanently_closed", now=NOW) == 0
    place.refresh_from_db()
    assert place.locked_fields == ["status"]


def test_a_twin_whose_slug_leads_to_an_erased_place_is_refused_by_the_parameter(client: Client) -> None:
    builders.restaurant(slug="noma")
    twin = builders.restaurant(slug="noma-2")
    places.rename(twin, "noma-3", actor="staff:1", now=NOW)
    twin.refresh_from_db()
    places.erase(twin, actor="staff:1", now=NOW)
    response = send(client, kind="duplicate", same_as="noma-2")
    assert (response.status_code, response.json()["error"]["param"]) == (400, "same_as")
    assert not Report.objects.exists()
