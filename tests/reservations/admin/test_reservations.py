"""The back office of reservations: written down, moved and mended by the rules of the API."""

from datetime import UTC, date, datetime, time, timedelta
from typing import Any
from zoneinfo import ZoneInfo

import pytest
import time_machine
from django.contrib.contenttypes.models import ContentType
from django.test import Client
from pytest_django import DjangoAssertNumQueries

from accounts.models import Venue
from reservations.models import Reservation
from tests.support import builders

RESERVATIONS = "/admin/reservations/reservation/"
NOON = datetime(2026, 11, 21, 12, 0, tzinfo=UTC)
LATER = datetime(2026, 11, 21, 13, 0, tzinfo=UTC)
EVENING = datetime(2026, 11, 28, 18, 30, tzinfo=UTC)


@pytest.fixture
def staff(db: None) -> Client:
    """A superuser in the back office."""
    return builders.staff()


def form(**changes: Any) -> dict[str, str]:
    """What staff fill in, but for the venue."""
    return {
        "customer_name": "Ada Lovelace",
        "customer_email": "",
        "customer_phone": "+15550100999",
        "date": "2026-11-28",
        "time": "19:30",
        "party_size": "4",
        "special_requests": "",
        "tables": "",
    } | changes


def errors_of(response: Any) -> dict[str, list[str]]:
    """What the form says is wrong."""
    assert response.status_code == 200
    found: dict[str, list[str]] = response.context["adminform"].form.errors
    return {name: list(page_text) for name, page_text in found.items()}


@pytest.mark.exhaustive
def test_a_list_of_reservations_costs_the_same_for_one_and_for_forty(
    staff: Client, django_assert_num_queries: DjangoAssertNumQueries
) -> None:
    for number in (1, 39):
        for _ in range(number):
            builders.reservation(builders.venue(), starts_at=EVENING)
        # Session, user, the estimate, the count, the reservations, two for the days of the hierarchy, saved filters.
        # With the list's own time limit, and the savepoint of the test around it.
        with django_assert_num_queries(11):
            assert staff.get(RESERVATIONS).status_code == 200


@pytest.mark.parametrize(
    "query",
    ["q=K7QX2M", "q=lovelace", "q=ada@example", "status__exact=pending", "pending_reason__exact=manual", "day=week"],
)
def test_reservations_are_found(staff: Client, venue: Venue, query: str) -> None:
    builders.reservation(venue, code="K7QX2M", starts_at=EVENING)
    with time_machine.travel(EVENING - timedelta(days=6), tick=False):
        assert "1 reservation" in staff.get(f"{RESERVATIONS}?{query}").content.decode()


@pytest.mark.parametrize(
    ("day", "days", "found"),
    [
        ("today", 0, 1),
        ("today", 1, 0),
        ("tomorrow", 1, 1),
        ("tomorrow", 0, 0),
        ("week", 6, 1),
        ("week", 7, 0),
        ("x", 9, 1),
    ],
)
def test_the_days_that_staff_look_at_are_one_click_away(
    staff: Client, venue: Venue, day: str, days: int, found: int
) -> None:
    builders.reservation(venue, starts_at=EVENING)
    with time_machine.travel(EVENING - timedelta(days=days), tick=False):
        assert staff.get(f"{RESERVATIONS}?day={day}").context["cl"].result_count == found


def test_a_reservation_opens(staff: Client, venue: Venue, django_assert_num_queries: DjangoAssertNumQueries) -> None:
    reservation = builders.reservation(venue)
    # The model's content type, which a process reads once.
    ContentType.objects.get_for_model(Reservation)
    # Session, user, the reservation, its venue, the venue's tables, its history, its mail.
    with django_assert_num_queries(7):
        assert staff.get(f"{RESERVATIONS}{reservation.pk}/change/").status_code == 200
    assert staff.get(f"{RESERVATIONS}add/").status_code == 200


def test_staff_write_down_a_reservation_also_one_of_the_past(staff: Client, venue: Venue) -> None:
    with time_machine.travel(NOON, tick=False):
        response = staff.post(
            f"{RESERVATIONS}add/", form(venue=str(venue.pk), date="2020-02-29", tables="T1,T2", party_size="7")
        )
    assert response.status_code == 302
    stored = Reservation.objects.get()
    assert (stored.date, stored.time, stored.tables) == (date(2020, 2, 29), time(19, 30), ["T1", "T2"])
    assert stored.starts_at == datetime(2020, 2, 29, 18, 30, tzinfo=UTC)
    assert stored.ends_at == datetime(2020, 2, 29, 21, 0, tzinfo=UTC)
    assert (stored.status, stored.pending_reason, stored.version) == ("pending", "manual", 1)
    assert (stored.customer_email, stored.customer_phone) == (None, "+15550100999")
    assert (stored.created_at, stored.updated_at) == (NOON, NOON)


@pytest.mark.sample(2)
@pytest.mark.parametrize(
    ("changes", "field", "message"),
    [
        ({"customer_phone": ""}, "customer_email", "Enter an email address or a phone number."),
        ({"customer_email": f"a@{'ü' * 60}.de"}, "customer_email", "This must be an email address."),
        (
            {"date": "2027-03-28", "time": "02:30"},
            "time",
            "On 2027-03-28 the clocks in Europe/Rome skip 02:30.",
        ),
        ({"party_size": "0"}, "__all__", "Constraint “reservation_party_size_in_1_to_500” is violated."),
        ({"venue": ""}, "venue", "This field is required."),
        ({"venue": "", "date": ""}, "venue", "This field is required."),
    ],
)
def test_errors_are_shown_at_their_field(
    staff: Client, venue: Venue, changes: dict[str, str], field: str, message: str
) -> None:
    response = staff.post(f"{RESERVATIONS}add/", form(venue=str(venue.pk)) | changes)
    assert errors_of(response)[field] == [message]
    assert not Reservation.objects.exists()


def test_a_correction_recalculates_the_stay_and_makes_a_new_version(staff: Client, venue: Venue) -> None:
    reservation = builders.reservation(venue, status="confirmed", starts_at=EVENING, metadata={"campaign": "autumn"})
    before = Reservation.objects.values().get(pk=reservation.pk)
    tampered = {"status": "cancelled", "code": "AAAAAA", "venue": str(builders.venue().pk), "metadata": "[]"}
    with time_machine.travel(LATER, tick=False):
        response = staff.post(
            f"{RESERVATIONS}{reservation.pk}/change/",
            form(date="2026-11-29", time="20:00", party_size="2", customer_email="ada@example.com") | tampered,
        )
    assert response.status_code == 302
    assert Reservation.objects.values().get(pk=reservation.pk) == before | {
        "customer_phone": "+15550100999",
        "date": date(2026, 11, 29),
        "time": time(20, 0),
        "party_size": 2,
        "starts_at": datetime(2026, 11, 29, 19, 0, tzinfo=UTC),
        "ends_at": datetime(2026, 11, 29, 20, 30, tzinfo=UTC),
        "updated_at": LATER,
        "version": before["version"] + 1,
    }


def test_a_phone_number_is_stored_without_separators(staff: Client, venue: Venue) -> None:
    staff.post(f"{RESERVATIONS}add/", form(customer_phone="+44 (20) 7946-0958") | {"venue": str(venue.pk)})
    assert Reservation.objects.get().customer_phone == "+442079460958"


def test_a_reservation_cannot_be_mended_into_a_time_that_the_clocks_skip(staff: Client, venue: Venue) -> None:
    reservation = builders.reservation(venue, starts_at=EVENING)
    response = staff.post(f"{RESERVATIONS}{reservation.pk}/change/", form(date="2027-03-28", time="02:30"))
    assert list(errors_of(response)) == ["time"]
    reservation.refresh_from_db()
    assert reservation.starts_at == EVENING


def test_actions_move_what_may_move_and_say_what_may_not(staff: Client, venue: Venue) -> None:
    made = {
        status: builders.reservation(venue, status=status, code=code)
        for status, code in (("pending", "AAAAAA"), ("confirmed", "BBBBBB"), ("cancelled", "CCCCCC"))
    }
    keys = [str(reservation.pk) for reservation in made.values()]
    response = staff.post(RESERVATIONS, {"action": "confirm", "_selected_action": keys, "confirmed": "yes"})
    assert sorted(builders.messages_of(response)) == [
        "AAAAAA: Ada Lovelace, party of 4 was confirmed.",
        "BBBBBB: Ada Lovelace, party of 4 was confirmed.",
        "CCCCCC: Ada Lovelace, party of 4: This reservation is cancelled and cannot become confirmed.",
    ]
    chosen = {"action": "cancel", "_selected_action": keys[:1]}
    assert "1 reservation:" in staff.post(RESERVATIONS, chosen).content.decode()
    assert Reservation.objects.get(pk=keys[0]).status == "confirmed"
    staff.post(RESERVATIONS, chosen | {"confirmed": "yes"})
    statuses = [Reservation.objects.get(pk=key).status for key in keys]
    assert statuses == ["cancelled", "confirmed", "cancelled"]


def test_confirming_what_finds_no_table_says_so_and_the_others_are_confirmed(staff: Client, venue: Venue) -> None:
    builders.table(venue)
    builders.period(venue)
    builders.reservation(venue, status="confirmed")
    waits = builders.reservation(venue, code="AAAAAA")
    Reservation.objects.filter(pk=waits.pk).update(pending_reason="waitlist")
    free = builders.reservation(venue, code="BBBBBB", starts_at=EVENING)
    response = act(staff, "confirm", waits, free)
    refused, moved = sorted(builders.messages_of(response))
    assert refused.startswith("AAAAAA: Ada Lovelace, party of 4: ")
    assert moved == "BBBBBB: Ada Lovelace, party of 4 was confirmed."
    assert [Reservation.objects.get(pk=one.pk).status for one in (waits, free)] == ["pending", "confirmed"]


def act(staff: Client, action: str, *reservations: Reservation) -> Any:
    """Choose an action of the list for these."""
    keys = [str(reservation.pk) for reservation in reservations]
    return staff.post(RESERVATIONS, {"action": action, "_selected_action": keys, "confirmed": "yes"})


@pytest.mark.exhaustive
def test_staff_record_arrivals_and_see_errors(staff: Client, venue: Venue) -> None:
    builders.table(venue)
    guests = builders.reservation(venue, status="confirmed", code="AAAAAA", starts_at=EVENING)
    missing = builders.reservation(venue, status="confirmed", code="BBBBBB", starts_at=EVENING)
    with time_machine.travel(EVENING, tick=False):
        for action in ("arrived", "seated", "finished"):
            act(staff, action, guests)
        act(staff, "no_show", guests, missing)
        # Nobody has looked at the messages in between.
        page_text = builders.messages_of(act(staff, "arrived", missing))
    assert sorted(page_text) == [
        "AAAAAA: Ada Lovelace, party of 4 was marked as arrived.",
        "AAAAAA: Ada Lovelace, party of 4 was marked as finished.",
        "AAAAAA: Ada Lovelace, party of 4 was marked as seated.",
        "AAAAAA: Ada Lovelace, party of 4: This party is finished and cannot become no-show.",
        "BBBBBB: Ada Lovelace, party of 4 was marked as arrived. "
        "Its table was released when it was marked as no-show: choose a new one on its page.",
        "BBBBBB: Ada Lovelace, party of 4 was marked as no-show.",
    ]
    assert [Reservation.objects.get(pk=one.pk).arrival for one in (guests, missing)] == ["finished", "arrived"]


@pytest.mark.exhaustive
def test_staff_offer_a_table_to_who_waits_and_call_who_has_no_mail(staff: Client, venue: Venue) -> None:
    for name in ("T1", "T2"):
        builders.table(venue, name)
    made = [
        builders.reservation(venue, code="AAAAAA", starts_at=EVENING),
        builders.reservation(
            venue, code="BBBBBB", starts_at=EVENING, customer_email=None, customer_phone="+15550100999"
        ),
        builders.reservation(venue, code="CCCCCC", starts_at=EVENING),
    ]
    Reservation.objects.update(pending_reason="waitlist")
    with time_machine.travel(NOON, tick=False):
        shown = staff.get(RESERVATIONS).content.decode()
        assert (shown.count("Pending: waiting, call the guest"), shown.count("Pending: waiting<")) == (1, 2)
        response = act(staff, "offer_table", *made)
        held, refused = "13:30 on Saturday 21 November 2026", "No table is free for this party."
        page_text = builders.messages_of(response)
        # The latest is first.
        assert [line.split(":")[0] for line in page_text] == ["CCCCCC", "BBBBBB", "AAAAAA"]
        shown = staff.get(RESERVATIONS).content.decode()
    assert [line for line in page_text if refused in line] == [f"AAAAAA: Ada Lovelace, party of 4: {refused}"]
    assert "The guest is emailed." in page_text[0]
    assert "Call the guest." in page_text[1]
    assert shown.count(f"offered a table until {held}") == 2


@pytest.mark.exhaustive
def test_staff_choose_tables_by_name_and_a_taken_one_is_an_error_at_the_field(staff: Client, venue: Venue) -> None:
    for name in ("T1", "T2"):
        builders.table(venue, name)
    taken = builders.reservation(venue, status="confirmed", starts_at=EVENING)
    assert taken.tables == ["T1"]
    add = form(venue=str(venue.pk))
    for tables, message in (("T1", "Already booked at that time: T1."), ("T2,T9", "The venue has no table T9.")):
        assert errors_of(staff.post(f"{RESERVATIONS}add/", add | {"tables": tables})) == {"tables": [message]}
    assert Reservation.objects.count() == 1
    assert staff.post(f"{RESERVATIONS}add/", add | {"tables": "T2", "is_confirmed": "on"}).status_code == 302
    made = Reservation.objects.exclude(pk=taken.pk).get()
    assert (made.status, made.tables, made.seatings.count()) == ("confirmed", ["T2"], 1)
    # Also where an old one is to be put onto a table that another party has.
    before = Reservation.objects.values().get(pk=made.pk)
    response = staff.post(f"{RESERVATIONS}{made.pk}/change/", form(tables="T1"))
    assert errors_of(response) == {"tables": ["Already booked at that time: T1."]}
    assert Reservation.objects.values().get(pk=made.pk) == before


def test_a_cancelled_reservation_cannot_be_mended_and_says_so(staff: Client, venue: Venue) -> None:
    reservation = builders.reservation(venue, status="cancelled", starts_at=EVENING)
    before = Reservation.objects.values().get(pk=reservation.pk)
    response = staff.post(f"{RESERVATIONS}{reservation.pk}/change/", form(party_size="2"))
    assert errors_of(response) == {"__all__": ["This reservation is cancelled and cannot be changed."]}
    assert Reservation.objects.values().get(pk=reservation.pk) == before


def test_a_name_is_one_line(staff: Client, venue: Venue) -> None:
    response = staff.post(f"{RESERVATIONS}add/", form(venue=str(venue.pk), customer_name="Ada\nBcc: eve@example.com"))
    assert errors_of(response) == {"customer_name": ["This holds a control character."]}
    assert not Reservation.objects.exists()


def test_the_page_of_a_reservation_shows_its_history_and_its_mail(staff: Client, venue: Venue) -> None:
    reservation = builders.reservation(venue, status="confirmed", starts_at=EVENING)
    reservation.guest_mails.all().delete()
    for kind, fields in (
        ("confirmed", {"state": "sent", "sent_at": LATER}),
        ("changed", {"state": "failed", "last_error": "550 <b>no</b>"}),
        ("reminder", {"state": "pending", "attempts": 2, "last_error": "451 later"}),
        ("cancelled", {"state": "dropped"}),
    ):
        reservation.guest_mails.create(kind=kind, next_attempt_at=LATER, created_at=NOON, **fields)
    shown = staff.get(f"{RESERVATIONS}{reservation.pk}/change/").content.decode()
    for line in (
        "reservation.created by system",
        "reservation.confirmed by system",
        "2026-11-21 12:00:00 UTC confirmed: sent 2026-11-21 13:00:00 UTC",
        "changed: failed 550 &lt;b&gt;no&lt;/b&gt;",
        "reminder: 2 attempts, next 2026-11-21 13:00:00 UTC: 451 later",
        "cancelled: outdated",
    ):
        assert line in shown


def test_a_reservation_cannot_be_deleted(staff: Client, venue: Venue) -> None:
    reservation = builders.reservation(venue)
    assert staff.post(f"{RESERVATIONS}{reservation.pk}/delete/", {"post": "yes"}).status_code == 403
    staff.post(RESERVATIONS, {"action": "delete_selected", "_selected_action": [str(reservation.pk)], "post": "yes"})
    assert Reservation.objects.filter(pk=reservation.pk).exists()


def test_staff_see_that_a_sandbox_sends_no_mail(staff: Client, venue: Venue) -> None:
    shown = staff.get(f"/admin/accounts/venue/{venue.pk}/change/").content.decode()
    assert "its email is only written to the worker's log" in shown


@pytest.mark.exhaustive
@pytest.mark.parametrize(("zone", "hour"), [("Pacific/Kiritimati", 11), ("Pacific/Pago_Pago", 9), ("UTC", 12)])
def test_today_is_what_the_clock_of_each_venue_says(staff: Client, zone: str, hour: int) -> None:
    venue = builders.venue(timezone=zone)
    now = datetime(2026, 11, 21, hour, 0, tzinfo=UTC)
    today = now.astimezone(ZoneInfo(zone))
    for days, code in enumerate(("AAAAAA", "BBBBBB")):
        builders.reservation(venue, starts_at=today.replace(hour=12) + timedelta(days=days), code=code)
    with time_machine.travel(now, tick=False):
        found = {
            day: [one.code for one in staff.get(f"{RESERVATIONS}?day={day}").context["cl"].result_list]
            for day in ("today", "tomorrow", "week")
        }
    assert found == {"today": ["AAAAAA"], "tomorrow": ["BBBBBB"], "week": ["AAAAAA", "BBBBBB"]}


def test_a_page_says_a_dash_where_there_is_nothing_and_which_tables_there_are(staff: Client, venue: Venue) -> None:
    builders.table(venue, "T1")
    builders.table(venue, "T2", is_active=False)
    reservation = builders.reservation(venue, status="confirmed", customer_email=None, customer_phone="+15550100999")
    shown = staff.get(f"{RESERVATIONS}{reservation.pk}/change/").content.decode()
    assert ">None<" not in shown
    assert "Table names, separated by commas: T1, T2. Tables of this venue: T1. Leave empty for no table." in shown


def test_a_long_name_is_cut_in_the_list_and_marks_that_turn_words_are_shown(staff: Client, venue: Venue) -> None:
    builders.reservation(venue, customer_name="x" * 200, code="AAAAAA")
    turned = builders.reservation(venue, customer_name="Ada \u202eecalevoL", code="BBBBBB")
    shown = staff.get(RESERVATIONS).content.decode()
    assert f">{'x' * 39}…</a></th>" in shown
    assert ("Ada [U+202E]ecalevoL" in shown, "\u202e" in shown) == (True, False)
    assert builders.messages_of(act(staff, "confirm", turned)) == [
        "BBBBBB: Ada [U+202E]ecalevoL, party of 4 was confirmed."
    ]


def test_who_waits_and_is_not_reached_by_mail_is_to_be_called(staff: Client, venue: Venue) -> None:
    reservation = builders.reservation(venue, starts_at=EVENING)
    Reservation.objects.update(pending_reason="waitlist")
    reservation.guest_mails.create(kind="waitlisted", state="failed", next_attempt_at=NOON, created_at=NOON)
    assert "waiting, call the guest" in staff.get(RESERVATIONS).content.decode()
