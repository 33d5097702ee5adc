"""The clock of a sandbox: what depends on time happens in the order of time, the same each time, and only there."""

import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
import time_machine
from django.conf import settings as project
from django.db import connection, transaction
from django.test import Client
from django.utils import timezone
from pytest_django import Settings

from accounts import consistency_checks as account_checks
from accounts import sandbox_clock
from accounts.models import Event, SandboxClock, Venue, WebhookDelivery
from accounts.tasks import purge_events, run_sandbox_clocks, sweep_webhooks
from accounts.webhooks import endpoints
from orders import consistency_checks as order_checks
from orders.models import Order
from orders.tasks import erase_expired_contacts
from reservations import consistency_checks as reservation_checks
from reservations.models import GuestMail, Hold, Reservation
from reservations.tasks import delete_expired_holds, erase_expired_guests, queue_reminders, send_guest_mail
from tests.accounts.webhook_receivers import Answer, Received, Receiver, receiving
from tests.catalogue import builders as catalogue_builders
from tests.support import builders
from tests.support.live_server import database_url

pytestmark = pytest.mark.django_db(transaction=True)

START = datetime(2027, 3, 1, 12, tzinfo=UTC)
END = START + timedelta(days=30)
CLOCK = "/api/v1/test/clock"
# A party of the evening for which the only table is held.
EVENING = {"date": "2027-03-02", "time": "19:00", "party_size": 2}
TEN_DAYS_LATER = {"date": "2027-03-11", "time": "20:00", "party_size": 2}


@pytest.fixture(autouse=True)
def _to_loopback(settings: Settings) -> None:
    settings.WEBHOOKS_TO_LOOPBACK = True


def sandbox(name: str = "Osteria (sandbox)", **fields: Any) -> Venue:
    return builders.venue(name, timezone="UTC", is_sandbox=True, **fields)


def advance(api: Client, to: datetime) -> Any:
    """As a client does: a call that did not come to its end is sent again."""
    for _ in range(100):
        answer = api.post(CLOCK, {"to": to.isoformat()}, content_type="application/json")
        if answer.status_code != 400 or answer.json()["error"]["code"] != "clock_advancing":
            break
        time.sleep(0.05)
    return answer


def fails_twice(_: Received, before: int) -> Answer:
    """Is away for the first event until its third attempt."""
    return Answer(500 if before < 2 else 200)


@contextmanager
def at_start() -> Iterator[None]:
    """The real time stands still, so that only the clock of the sandbox goes on."""
    with time_machine.travel(START, tick=False):
        yield


def furnish(receiver: Receiver) -> tuple[Venue, Client]:
    """A sandbox with one table, which is held, a party that waits for it, a guest of another day, and an order."""
    venue = sandbox(when_full=Venue.WhenFull.WAITLIST, forgets_guests_after_days=7)
    builders.table(venue, "T1")
    builders.period(venue)
    endpoints.create(venue, url=receiver.url)
    api = builders.client(venue)
    held = api.post("/api/v1/holds", EVENING, content_type="application/json")
    assert held.status_code == 201
    for guest, wanted, status in (("ada", EVENING, "pending"), ("bob", TEN_DAYS_LATER, "confirmed")):
        body = builders.reservation_body(**wanted, customer_name=guest, customer_email=f"{guest}@example.com")
        made = api.post("/api/v1/reservations", body, content_type="application/json").json()
        assert made["status"] == status
    contact = {"name": "Cy", "phone": "+15550100999"}
    order = builders.order_body(fulfilment={"type": "pickup", "contact": contact})
    assert api.post("/api/v1/orders", order, content_type="application/json").status_code == 201
    return venue, api


def journal(venue: Venue) -> list[str]:
    """What has happened in the venue, and when by its clock: events, their webhooks, mail and erasures."""
    lines: list[tuple[datetime, str]] = []
    for number, event in enumerate(Event.objects.filter(venue=venue).order_by("created_at", "id")):
        has_offer = event.record["status"] == "pending" and event.record.get("tables")
        lines.append((event.created_at, f"{number} {event.type}{' with an offer' if has_offer else ''}"))
        for delivery in event.deliveries.exclude(last_attempt_at=None):
            assert delivery.last_attempt_at
            lines.append((delivery.last_attempt_at, f"{number} {delivery.state} by attempt {delivery.attempts}"))
    mails = GuestMail.objects.filter(reservation__venue=venue).order_by("pk")
    lines += [(mail.sent_at or mail.created_at, f"mail {mail.kind} {mail.state}") for mail in mails]
    orders = Order.objects.filter(venue=venue, contact_name="")
    return [f"{at:%m-%d %H:%M:%S} {text}" for at, text in sorted(lines)] + ["an order is erased"] * orders.count()


def find_contradictions() -> list[str]:
    """What `manage.py check_consistency` finds by the real time."""
    sources = (account_checks.checks, order_checks.checks, reservation_checks.checks)
    now = timezone.now()
    return [str(found) for source in sources for findings in source(now).values() for found in findings]


JOURNAL = [
    "03-01 12:00:00 0 reservation.created",
    "03-01 12:00:00 1 reservation.created",
    "03-01 12:00:00 2 delivered by attempt 1",
    "03-01 12:00:00 2 reservation.confirmed",
    "03-01 12:00:00 3 delivered by attempt 1",
    "03-01 12:00:00 3 order.created",
    "03-01 12:00:00 mail confirmed sent",
    "03-01 12:00:00 mail waitlisted sent",
    "03-01 12:00:05 0 delivered by attempt 2",
    "03-01 12:00:05 1 delivered by attempt 2",
    # The hold ends, and the table is offered three times, for half an hour each.
    "03-01 12:10:00 4 delivered by attempt 1",
    "03-01 12:10:00 4 reservation.updated with an offer",
    "03-01 12:10:00 mail offered sent",
    "03-01 12:40:00 5 delivered by attempt 1",
    "03-01 12:40:00 5 reservation.updated",
    "03-01 12:40:00 6 delivered by attempt 1",
    "03-01 12:40:00 6 reservation.updated with an offer",
    "03-01 12:40:00 mail offered sent",
    "03-01 13:10:00 7 delivered by attempt 1",
    "03-01 13:10:00 7 reservation.updated",
    "03-01 13:10:00 8 delivered by attempt 1",
    "03-01 13:10:00 8 reservation.updated with an offer",
    "03-01 13:10:00 mail offered sent",
    "03-01 13:40:00 9 delivered by attempt 1",
    "03-01 13:40:00 9 reservation.updated",
    # A week after the party would have come, and in the night.
    "03-10 01:53:00 10 delivered by attempt 1",
    "03-10 01:53:00 10 reservation.updated",
    "03-10 20:00:00 mail reminder sent",
    "03-19 01:53:00 11 delivered by attempt 1",
    "03-19 01:53:00 11 reservation.updated",
    "an order is erased",
]


@pytest.mark.exhaustive
def test_thirty_days_happen_in_order_and_the_same_each_time() -> None:
    for _run in range(2):
        with at_start(), receiving(fails_twice) as receiver:
            venue, api = furnish(receiver)
            answer = advance(api, END)
            assert answer.status_code == 200
            assert answer.json() == {"object": "clock", "now": "2027-03-31T12:00:00Z", "ahead_s": 30 * 86_400}
            assert api.get(CLOCK).json() == answer.json()
            assert journal(venue) == JOURNAL
            assert find_contradictions() == []
            numbers = [received.headers["webhook-id"] for received in receiver.received]
            events = [event.public_id for event in Event.objects.filter(venue=venue).order_by("created_at", "id")]
            # The first two events fail once, and come again five seconds later.
            assert numbers == [events[0], events[1], events[2], events[3], events[0], events[1], *events[4:]]


@pytest.mark.exhaustive
def test_many_small_advances_are_one_large_one() -> None:
    with at_start(), receiving(fails_twice) as receiver:
        venue, api = furnish(receiver)
        at = START
        for step in (3, 600, 1_000, 7_200, 600_000):
            at += timedelta(seconds=step)
            assert advance(api, at).status_code == 200
        assert advance(api, END).status_code == 200
        assert journal(venue) == JOURNAL


@pytest.mark.exhaustive
def test_webhooks_are_signed_with_the_real_time_and_tell_that_of_the_clock() -> None:
    with receiving(fails_twice) as receiver:
        venue = sandbox()
        _, secret = endpoints.create(venue, url=receiver.url)
        api = builders.client(venue)
        to = timezone.now().replace(microsecond=0) + timedelta(days=30)
        assert advance(api, to).status_code == 200
        order = api.post("/api/v1/orders", builders.order_body(), content_type="application/json").json()
        assert to <= datetime.fromisoformat(order["created_at"]) < to + timedelta(minutes=1)
        assert advance(api, to + timedelta(hours=1)).status_code == 200
        told = receiver.received[-1].verified(secret)
        assert (told["data"]["id"], told["timestamp"]) == (order["id"], order["created_at"])


@pytest.mark.exhaustive
def test_an_interrupted_advance_goes_on_where_it_stood() -> None:
    failures: list[datetime] = []

    def fail_once(venue: Venue, now: datetime) -> None:
        if now >= START + timedelta(minutes=40) and not failures:
            failures.append(now)
            raise RuntimeError("A defect in the middle of a step.")

    broken = sandbox_clock.Work(due="SELECT NULL::timestamptz", run=fail_once, follows=True)
    sandbox_clock.WORK.append(broken)
    try:
        with at_start(), receiving(fails_twice) as receiver:
            venue, api = furnish(receiver)
            api.raise_request_exception = False
            assert advance(api, END).status_code == 500
            assert api.get(CLOCK).json()["now"] == "2027-03-01T12:40:00Z"
            assert advance(api, END).status_code == 200
            assert journal(venue) == JOURNAL
    finally:
        sandbox_clock.WORK.remove(broken)


ADVANCE = """
from datetime import datetime
from accounts.models import Venue
from accounts.sandbox_clock import advance
advance(Venue.objects.get(pk="{venue}"), to=datetime.fromisoformat("{to}"))
"""


@pytest.mark.stack
def test_a_process_that_is_killed_half_way_is_made_up_for() -> None:
    """kill -9 of a real process that waits for a receiver. Its lease ends, and the same call goes on."""
    has_it = threading.Event()

    def hang_up_once(_: Received, before: int) -> Answer:
        if before == 2:
            has_it.set()
            time.sleep(1)
        return Answer(200)

    with receiving(hang_up_once) as receiver:
        venue = sandbox()
        endpoints.create(venue, url=receiver.url)
        for number in range(5):
            builders.event(venue, now=timezone.now() + timedelta(hours=number))
        to = timezone.now().replace(microsecond=0) + timedelta(days=1)
        process = subprocess.Popen(
            [sys.executable, "manage.py", "shell", "-v", "0", "-c", ADVANCE.format(venue=venue.pk, to=to.isoformat())],
            cwd=project.BASE_DIR,
            env={**os.environ, "DATABASE_URL": database_url(), "WEBHOOKS_TO_LOOPBACK": "true"},
        )
        assert has_it.wait(30)
        process.send_signal(signal.SIGKILL)
        process.wait()
        clock = SandboxClock.objects.get()
        assert clock.leased_until is not None
        assert clock.leased_until <= timezone.now() + sandbox_clock.LEASE
        assert timedelta(hours=1) < clock.offset < timedelta(hours=3)
        # Thirty seconds pass.
        SandboxClock.objects.update(leased_until=timezone.now())
        sandbox_clock.advance(venue, to=to)
    assert list(WebhookDelivery.objects.order_by("event_id").values_list("state", "attempts")) == [
        *[("delivered", 1)] * 2,
        ("delivered", 2),
        *[("delivered", 1)] * 2,
    ]
    assert venue.now() >= to


@pytest.mark.exhaustive
def test_two_who_advance_at_once_take_turns() -> None:
    with receiving(fails_twice) as receiver:
        venue = sandbox()
        endpoints.create(venue, url=receiver.url)
        builders.event(venue, times=5)
        key = builders.key(venue).text
        to = timezone.now().replace(microsecond=0) + timedelta(days=30)
        answers = []

        def call() -> None:
            try:
                answers.append(advance(builders.client_with(key), to))
            finally:
                connection.close()

        threads = [threading.Thread(target=call) for _ in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        # Each came before the clock was there, or was told that it is.
        assert {answer.status_code for answer in answers} <= {200, 400}
        assert sum(answer.status_code == 200 for answer in answers) >= 1
        assert {answer.json()["error"]["param"] for answer in answers if answer.status_code == 400} <= {"to"}
        assert len(receiver.received) == 5 + 2
    assert timedelta(days=29, hours=23) < SandboxClock.objects.get().offset < timedelta(days=30, minutes=1)


def post(api: Client, to: datetime) -> Any:
    """One call."""
    return api.post(CLOCK, {"to": to.isoformat()}, content_type="application/json")


def test_while_a_process_works_for_a_clock_others_are_told_at_once_to_come_again() -> None:
    venue = sandbox()
    api, now = builders.client(venue), timezone.now()
    SandboxClock.objects.create(venue=venue, ran_until=now, leased_until=now + timedelta(seconds=30))
    started = time.monotonic()
    refused = post(api, now + timedelta(days=1))
    assert time.monotonic() - started < 1
    assert (refused.status_code, refused["Retry-After"]) == (400, "1")
    error = refused.json()["error"]
    assert error["code"] == "clock_advancing"
    assert error["message"] == "Another call is advancing this clock. Send the request again in a second."
    assert sandbox_clock.run_due(venue) is True
    assert SandboxClock.objects.get().offset == timedelta()


@pytest.mark.exhaustive
def test_a_process_advances_one_clock_at_a_time() -> None:
    """Each advance holds a thread of the web server for seconds, and the others serve everybody else."""
    is_at_work, may_answer = threading.Event(), threading.Event()

    def wait(_: Received, before: int) -> Answer:
        is_at_work.set()
        may_answer.wait(2.5)
        return Answer(200)

    with receiving(wait) as receiver:
        venue, other = sandbox(), sandbox("Trattoria (sandbox)")
        endpoints.create(venue, url=receiver.url)
        builders.event(venue)
        key, other_api = builders.key(venue).text, builders.client(other)
        to = timezone.now().replace(microsecond=0) + timedelta(days=1)
        answers = []

        def call() -> None:
            try:
                answers.append(post(builders.client_with(key), to))
            finally:
                connection.close()

        thread = threading.Thread(target=call)
        thread.start()
        try:
            assert is_at_work.wait(5)
            refused = post(other_api, to)
        finally:
            may_answer.set()
            thread.join()
        error = refused.json()["error"]
        assert (refused.status_code, refused["Retry-After"], error["code"]) == (400, "1", "clock_advancing")
        assert error["message"] == "Our server is advancing another clock. Send the request again in a second."
        assert [answer.status_code for answer in answers] == [200]
        assert post(other_api, to).status_code == 200


@pytest.mark.exhaustive
def test_an_advance_ends_when_all_webhooks_have_gone_out(monkeypatch: pytest.MonkeyPatch) -> None:
    """However many there are in a step: more than it claims at a time."""
    monkeypatch.setattr(sandbox_clock, "WEBHOOK_CLAIM_S", 0.1)

    def answer_slowly(_: Received, before: int) -> Answer:
        time.sleep(0.08)
        return Answer(200)

    with receiving(answer_slowly) as receiver:
        venue = sandbox()
        endpoints.create(venue, url=receiver.url)
        builders.event(venue, times=8)
        assert post(builders.client(venue), timezone.now() + timedelta(days=3)).status_code == 200
        assert len(receiver.received) == 8
    assert WebhookDelivery.objects.filter(state="delivered").count() == 8


@pytest.mark.exhaustive
def test_a_call_that_ends_within_its_last_step_goes_on_when_it_is_sent_again(monkeypatch: pytest.MonkeyPatch) -> None:
    """The clock shows the end by then, and the moment has passed."""
    monkeypatch.setattr(sandbox_clock, "WEBHOOK_CLAIM_S", 0.05)

    def answer_slowly(_: Received, before: int) -> Answer:
        time.sleep(0.1)
        return Answer(200)

    with at_start(), receiving(answer_slowly) as receiver:
        venue, to = sandbox(), END
        endpoints.create(venue, url=receiver.url)
        builders.event(venue, times=4, now=to)
        api = builders.client(venue)
        with monkeypatch.context() as patch:
            patch.setattr(sandbox_clock, "MAX_RUN_S", 0)
            # By way of the present.
            assert [post(api, to).json()["error"]["code"] for _ in range(2)] == ["clock_advancing"] * 2
        assert venue.now() >= to
        assert WebhookDelivery.objects.filter(state="pending").exists()
        assert post(api, to).status_code == 200
        assert WebhookDelivery.objects.filter(state="delivered").count() == 4
        # Everything until then is done.
        assert builders.problems_of(post(api, to))[0][0] == "to"


def test_a_failure_in_the_last_step_is_made_up_for_by_the_same_call() -> None:
    failures: list[datetime] = []

    def fail_once(venue: Venue, now: datetime) -> None:
        if now == END and not failures:
            failures.append(now)
            raise RuntimeError("A defect in the last step.")

    broken = sandbox_clock.Work(due="SELECT NULL::timestamptz", run=fail_once, follows=True)
    sandbox_clock.WORK.append(broken)
    try:
        with at_start():
            api = builders.client(sandbox())
            api.raise_request_exception = False
            assert post(api, END).status_code == 500
            assert api.get(CLOCK).json()["now"] == "2027-03-31T12:00:00Z"
            assert post(api, END).status_code == 200
            message = "The clock shows 2027-03-31T12:00:00Z, and goes only forwards."
            assert builders.problems_of(post(api, END)) == [("to", message)]
    finally:
        sandbox_clock.WORK.remove(broken)


@pytest.mark.exhaustive
def test_what_was_stored_with_a_time_before_the_clock_is_done_next() -> None:
    """A request reads the time, the clock is advanced, and then the request commits."""
    with receiving() as receiver:
        with at_start():
            venue = sandbox()
            endpoints.create(venue, url=receiver.url)
            assert advance(builders.client(venue), END).status_code == 200
            builders.event(venue, now=START + timedelta(days=1))
        with time_machine.travel(START + timedelta(seconds=5), tick=False):
            run_sandbox_clocks()
            assert len(receiver.received) == 1
            assert sandbox_clock.find_with_due_work() == []


def test_clocks_take_turns(monkeypatch: pytest.MonkeyPatch) -> None:
    """A clock that has more to do than one run achieves does not keep the others waiting."""
    monkeypatch.setattr(sandbox_clock, "MAX_RUN_S", 0)
    moments = f"(VALUES ('{START}'::timestamptz + interval '1 hour'), ('{START}'::timestamptz + interval '2 hours'))"
    work = sandbox_clock.Work(
        due=f"SELECT min(at) FROM {moments} AS moments (at) WHERE at > {{after}}",  # noqa: S608
        run=lambda venue, now: None,
    )
    sandbox_clock.WORK.append(work)
    try:
        venues = sorted((sandbox(), sandbox("Trattoria (sandbox)")), key=lambda venue: venue.pk)
        for venue in venues:
            SandboxClock.objects.create(venue=venue, ran_until=START)
        with time_machine.travel(START + timedelta(days=1)):
            served = []
            for _ in range(4):
                served.append(sandbox_clock.find_with_due_work()[0])
                with suppress(sandbox_clock.ClockAdvancing):
                    sandbox_clock.run_due(served[-1])
        assert served[0] != served[1]
        assert sorted(served, key=lambda venue: venue.pk) == [venues[0], venues[0], venues[1], venues[1]]
    finally:
        sandbox_clock.WORK.remove(work)


@pytest.mark.exhaustive
def test_a_call_without_time_left_stops_after_a_step_and_goes_on_when_it_is_sent_again(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    with at_start(), receiving(fails_twice) as receiver:
        venue, api = furnish(receiver)
        body = {"to": END.isoformat()}
        with monkeypatch.context() as patch:
            patch.setattr(sandbox_clock, "MAX_RUN_S", 0)
            for at in ("2027-03-01T12:00:00Z", "2027-03-01T12:00:05Z", "2027-03-01T12:10:00Z"):
                refused = api.post(CLOCK, body, content_type="application/json")
                assert (refused.status_code, refused.json()["error"]["code"]) == (400, "clock_advancing")
                message = f"The clock has come to {at}. Send the request again: it goes on from there."
                assert refused.json()["error"]["message"] == message
                assert api.get(CLOCK).json()["now"] == at
        assert advance(api, END).status_code == 200
        assert journal(venue) == JOURNAL


def test_a_clock_goes_only_forwards_and_not_too_far() -> None:
    with at_start():
        api = builders.client(sandbox())
        assert api.get(CLOCK).json() == {"object": "clock", "now": "2027-03-01T12:00:00Z", "ahead_s": 0}
        for to, message in (
            (START, "The clock shows 2027-03-01T12:00:00Z, and goes only forwards."),
            (START - timedelta(days=1), "The clock shows 2027-03-01T12:00:00Z, and goes only forwards."),
            (START + timedelta(days=400, seconds=1), "Advance it by at most 400 days in one call."),
        ):
            refused = advance(api, to)
            assert builders.problems_of(refused) == [("to", message)]
        assert not SandboxClock.objects.exists()
        at = START
        for _ in range(9):
            at += timedelta(days=400)
            assert advance(api, at).status_code == 200
        assert builders.problems_of(advance(api, at + timedelta(days=100))) == [
            ("to", "It can be 3660 days ahead at most.")
        ]


@pytest.mark.parametrize("body", [{}, {"to": "tomorrow"}, {"to": 5}, {"to": None}, {"advance_s": 60}, []])
def test_a_wrong_body_is_refused(body: Any) -> None:
    refused = builders.client(sandbox()).post(CLOCK, body, content_type="application/json")
    assert (refused.status_code, refused.json()["error"]["code"]) == (400, "invalid_request")


def test_the_key_of_a_live_venue_has_no_clock(venue: Venue, api: Client) -> None:
    message = "Only a sandbox has a clock that can be advanced. Use a key of a sandbox: it begins with `rk_test_`."
    for refused in (api.get(CLOCK), advance(api, timezone.now() + timedelta(days=1))):
        error = refused.json()["error"]
        assert (refused.status_code, error["code"], error["message"]) == (404, "not_found", message)
    assert not SandboxClock.objects.exists()
    assert venue.clock_offset() == timedelta()


def test_a_sandbox_of_a_restaurant_of_the_data_api_keeps_the_real_time() -> None:
    """Its offers and deposits would not follow."""
    venue = sandbox()
    catalogue_builders.market()
    catalogue_builders.listing(catalogue_builders.restaurant(), venue)
    refused = advance(builders.client(venue), timezone.now() + timedelta(days=1))
    assert (refused.status_code, refused.json()["error"]["message"]) == (
        400,
        "This sandbox is joined to a restaurant of the data API, whose offers follow the real time.",
    )
    assert not SandboxClock.objects.exists()


def test_a_restaurant_and_the_clock_of_its_sandbox_exclude_each_other_at_once_too() -> None:
    """Whoever comes first holds the venue, and the other waits for the outcome."""
    venue = sandbox()
    catalogue_builders.market()
    place = catalogue_builders.restaurant()
    key, answers = builders.key(venue).text, []

    def call() -> None:
        try:
            answers.append(post(builders.client_with(key), timezone.now() + timedelta(days=1)))
        finally:
            connection.close()

    thread = threading.Thread(target=call)
    with transaction.atomic():
        assert not sandbox_clock.has_clock(venue)
        thread.start()
        thread.join(0.2)
        catalogue_builders.listing(place, venue)
    thread.join()
    assert [answer.status_code for answer in answers] == [400]
    assert not SandboxClock.objects.exists()


def test_the_clocks_task_follows_webhooks_only_if_a_clock_has_some() -> None:
    """Each order of any venue is followed by a run of the dispatcher."""
    with at_start():
        venue = sandbox()
        endpoints.create(venue, url="http://127.0.0.1:9999/")
        SandboxClock.objects.create(venue=venue, ran_until=START, offset=timedelta(days=1))
        assert not sandbox_clock.has_due_webhooks()
        builders.event(venue, now=START + timedelta(days=1, minutes=1))
        assert not sandbox_clock.has_due_webhooks()
        WebhookDelivery.objects.update(next_attempt_at=START + timedelta(days=1))
        assert sandbox_clock.has_due_webhooks()


def test_the_back_office_sells_a_dish_out_for_the_day_of_the_clock() -> None:
    with at_start():
        venue = sandbox()
        menu = builders.menu(venue)
        assert advance(builders.client(venue), END).status_code == 200
        staff = builders.staff()
        item = menu.items.get()
        data = {"action": "sell_out", "_selected_action": [str(item.pk)], "confirmed": "yes"}
        staff.post("/admin/orders/menuitem/", data, follow=True)
        item.refresh_from_db()
        assert item.sold_out_on == END.date()


def test_a_sandbox_whose_clock_was_advanced_cannot_go_live() -> None:
    venue = sandbox()
    assert advance(builders.client(venue), timezone.now() + timedelta(days=1)).status_code == 200
    page = f"/admin/accounts/venue/{venue.pk}/change/"
    staff = builders.staff()
    shown = staff.get(page)
    assert "UTC, 0 days ahead" in shown.content.decode() or "UTC, 1 days ahead" in shown.content.decode()
    form = shown.context["adminform"].form
    given = {name: "" if form[name].value() is None else form[name].value() for name in form.fields}
    given |= {"payment_methods": "", "is_sandbox": ""}
    refused = staff.post(page, given)
    assert "The clock of this sandbox was advanced. It cannot go live." in refused.content.decode()
    assert Venue.objects.get().is_sandbox


@pytest.mark.exhaustive
def test_other_venues_keep_the_real_time() -> None:
    with at_start(), receiving(fails_twice) as receiver, receiving(fails_twice) as other_receiver:
        _, api = furnish(receiver)
        other, other_api = furnish(other_receiver)
        before = journal(other)
        assert advance(api, END).status_code == 200
        assert journal(other) == before
        assert other_api.get(CLOCK).json()["now"] == "2027-03-01T12:00:00Z"
        assert Hold.objects.filter(venue=other).count() == 1
        assert other_receiver.received == []


@pytest.mark.exhaustive
def test_workers_leave_a_sandbox_to_its_clock() -> None:
    """Those of all venues look at the real time, and would hold what is ahead of it for mistakes of a wrong clock."""
    with at_start(), receiving(fails_twice) as receiver:
        _venue, api = furnish(receiver)
        at = START + timedelta(days=20)
        assert advance(api, at).status_code == 200
        held = {"date": "2027-04-02", "time": "19:00", "party_size": 2}
        assert api.post("/api/v1/holds", held, content_type="application/json").status_code == 201
        body = builders.reservation_body(**held)
        assert api.post("/api/v1/reservations", body, content_type="application/json").json()["status"] == "pending"
        before = [list(model.objects.values()) for model in (Hold, GuestMail, WebhookDelivery)]
        for task in (delete_expired_holds, send_guest_mail, queue_reminders, erase_expired_guests, sweep_webhooks):
            task()
        erase_expired_contacts()
        purge_events()
        assert [list(model.objects.values()) for model in (Hold, GuestMail, WebhookDelivery)] == before
        assert Hold.objects.get().expires_at == at + timedelta(minutes=10)


@pytest.mark.exhaustive
def test_the_clock_goes_on_by_itself() -> None:
    with at_start(), receiving(fails_twice) as receiver:
        venue, api = furnish(receiver)
        assert advance(api, START + timedelta(minutes=5)).status_code == 200
        run_sandbox_clocks()
        assert Hold.objects.filter(venue=venue).exists()
    with time_machine.travel(START + timedelta(minutes=5, seconds=3), tick=False):
        assert api.get(CLOCK).json()["now"] == "2027-03-01T12:10:03Z"
        run_sandbox_clocks()
    # At its own moment, although the task came three seconds later.
    assert "03-01 12:10:00 4 reservation.updated with an offer" in journal(venue)
    assert not Hold.objects.filter(venue=venue).exists()


def test_the_present_of_a_sandbox_is_what_its_clock_shows() -> None:
    with at_start():
        venue = sandbox()
        builders.floor(venue)
        api = builders.client(venue)
        assert advance(api, END).status_code == 200
        # The day before by the clock, four weeks ahead by the real time.
        body = builders.reservation_body(date="2027-03-30")
        refused = api.post("/api/v1/reservations", body, content_type="application/json")
        assert (refused.status_code, refused.json()["error"]["param"]) == (400, "date")
        order = api.post("/api/v1/orders", builders.order_body(), content_type="application/json").json()
        assert (order["created_at"], order["business_date"]) == ("2027-03-31T12:00:00Z", "2027-03-31")
        assert api.get("/api/v1/events").json()["data"][0]["timestamp"] == "2027-03-31T12:00:00Z"


@pytest.mark.exhaustive
def test_thirty_days_of_a_restaurant_take_less_than_ten_seconds(record_testsuite_property: Any) -> None:
    """A reservation and an order a day, with mail and webhooks of which one in ten fails."""

    def fails_at_times(_: Received, before: int) -> Answer:
        return Answer(500 if before % 10 == 0 else 200)

    with at_start(), receiving(fails_at_times) as receiver:
        venue = sandbox(forgets_guests_after_days=7)
        builders.floor(venue)
        endpoints.create(venue, url=receiver.url)
        for day in range(2, 29):
            at = START.replace(hour=19) + timedelta(days=day)
            builders.reservation(venue, starts_at=at, status="confirmed", customer_email=f"guest{day}@example.com")
            builders.order(venue)
        started, cpu = time.perf_counter(), time.process_time()
        assert advance(builders.client(venue), END).status_code == 200
        took_s, cpu_s = time.perf_counter() - started, time.process_time() - cpu
        reminders = GuestMail.objects.filter(kind="reminder", state="sent").count()
        erased = Reservation.objects.filter(erased_at__isnull=False).count()
        assert (reminders, erased) == (27, 21)
        assert not WebhookDelivery.objects.exclude(state="delivered").exists()
    record_testsuite_property("thirty_days_s", round(took_s, 2))
    sys.stderr.write(
        f"thirty days with {len(receiver.received)} webhooks took {took_s:.2f} s, of the processor {cpu_s:.2f} s\n"
    )
    # Tests share their machine, so the time of the processor is judged.
    assert cpu_s < 10
