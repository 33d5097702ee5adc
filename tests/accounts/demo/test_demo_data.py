"""The demo data of all apps together: filled, moved to another day, and removed."""

import threading
from collections import Counter
from datetime import UTC, datetime, timedelta
from zoneinfo import ZoneInfo

import psycopg
import pytest
from django.db import InterfaceError, OperationalError, connection, transaction
from django.test import Client

from accounts.demo import commands
from accounts.demo.rows import IS_DEMO
from accounts.models import (
    Alert,
    AlertSubscription,
    ApiCall,
    ApiCallCount,
    ApiKey,
    DemoData,
    Event,
    OutgoingMail,
    Venue,
    WebhookDelivery,
    WebhookEndpoint,
)
from accounts.webhooks import delivery_queue
from framework.consistency import all_checks
from orders import commands as orders_commands
from orders.board import read_board
from orders.dashboard.board import Card
from orders.demo import records
from orders.models import DishPhoto, Menu, MenuCategory, MenuItem, Order, OrderNumber
from reservations.booking import waitlist
from reservations.guests import profiles
from reservations.mail import queue
from reservations.models import Area, GuestMail, GuestProfile, Reservation, ServicePeriod, Table
from reservations.service import check_in
from reservations.service.display_status import stage_of
from tests.support import builders, users
from tests.support.live_stack import eventually
from tests.support.query_counts import costing

ROME = ZoneInfo("Europe/Rome")
# A Tuesday evening.
EVENING = datetime(2026, 11, 24, 20, 37, tzinfo=ROME)
NEXT_DAY = EVENING + timedelta(days=1)
STAFF = "staff:owner@example.com"


@pytest.fixture
def sandbox(db: None) -> Venue:
    return builders.venue("Osteria (sandbox)", is_sandbox=True)


def findings(now: datetime) -> list[str]:
    """What `check_consistency` finds."""
    return [str(finding) for rows in all_checks(now=now).values() for finding in rows]


def stages(venue: Venue, *, now: datetime) -> Counter[str]:
    """The stages of the reservations of the venue's current day."""
    today = now.astimezone(ZoneInfo(venue.timezone)).date()
    rows = Reservation.objects.filter(venue=venue, date=today).select_related("venue")
    return Counter(stage_of(row, now=now).value for row in rows)


@pytest.mark.exhaustive
def test_fresh_demo_is_a_restaurant_in_service(sandbox: Venue) -> None:
    added = commands.fill(sandbox, now=EVENING)
    assert added == {
        "dishes": 21,
        "tables": 10,
        "notes about guests": 10,
        "orders": Order.objects.count(),
        "reservations": Reservation.objects.count(),
        "API calls": ApiCall.objects.count(),
    }
    # Twenty reservations of today, in all stages that need no mail.
    assert stages(sandbox, now=EVENING) == {
        "finished": 4,
        "no_show": 1,
        "seated": 4,
        "late": 1,
        "arrived": 1,
        "confirmed": 4,
        "requested": 2,
        "waiting": 2,
        "cancelled": 1,
    }
    # Twelve orders of today.
    board = read_board(sandbox, now=EVENING)
    assert [Card(order, EVENING, board.settings).lateness for order in board.pending.orders] == [
        *("late", "late", "warn", "warn", "", "", "")
    ]
    assert (len(board.completed.orders), len(board.cancelled.orders)) == (4, 1)
    assert [order.total for order in board.pending.orders if not order.total] == []
    # Thirty days behind it, and six ahead.
    assert Order.objects.dates("business_date", "day").count() == 31
    assert Reservation.objects.dates("date", "day").count() == 37
    assert Order.objects.filter(status="pending").exclude(business_date=EVENING.date()).count() == 0
    saturday, tuesday = (Order.objects.filter(business_date=f"2026-11-{day}").count() for day in (21, 17))
    assert saturday > tuesday > 0
    # The charts of API calls have content.
    counted = ApiCallCount.objects.values_list("calls", "client_errors", "server_errors")
    assert [sum(column) for column in zip(*counted, strict=True)] == [
        ApiCall.objects.count(),
        ApiCall.objects.filter(status__gte=400).count(),
        0,
    ]
    assert ApiCall.objects.datetimes("created_at", "day", tzinfo=ROME).count() == 30
    # Guests come again.
    guest = profiles.find_guest(sandbox, ["marco.bianchi@example.com"])
    assert guest.profile
    assert guest.profile.tags == ["regular", "nut allergy"]
    assert guest.statistics(now=EVENING)["visits"] >= 5
    # The deliveries of the disabled endpoint.
    assert Counter(WebhookDelivery.objects.values_list("state", flat=True)) == {"delivered": 29, "failed": 1}
    assert findings(EVENING) == []


@pytest.mark.exhaustive
@pytest.mark.parametrize(
    ("zone", "clock"),
    [
        *(("Europe/Rome", clock) for clock in ("00:05", "13:00", "23:50")),
        ("Asia/Kathmandu", "06:10"),
    ],
)
def test_demo_of_any_hour_has_valid_rows(db: None, clock: str, zone: str) -> None:
    venue = builders.venue(timezone=zone, currency="JPY", is_sandbox=True)
    now = datetime.fromisoformat(f"2026-11-24T{clock}").replace(tzinfo=ZoneInfo(zone))
    commands.fill(venue, now=now)
    assert findings(now) == []
    assert sum(stages(venue, now=now).values()) == 20
    assert Order.objects.filter(created_at__gte=now - timedelta(hours=2), status="pending").count() == 7
    assert Order.objects.filter(created_at__gt=now).count() == ApiCall.objects.filter(created_at__gt=now).count() == 0
    assert Event.objects.filter(created_at__gt=now).count() == 0
    for row in Reservation.objects.filter(date=now.date()):
        row.full_clean()
        assert row.starts_at.astimezone(ZoneInfo(zone)).strftime("%H:%M") == f"{row.time:%H:%M}"
    for item in MenuItem.objects.select_related("menu__venue", "category"):
        item.full_clean()
    assert MenuItem.objects.get(ref="margherita").price == 1520
    assert {order.total % 1 for order in Order.objects.all()[:20] if order.total is not None} == {0}


@pytest.mark.exhaustive
def test_demo_over_a_change_of_the_clocks_is_valid(db: None) -> None:
    venue = builders.venue(timezone="America/Santiago", is_sandbox=True)
    # The clocks go from midnight to one o'clock on this day.
    now = datetime(2026, 9, 6, 1, 5, tzinfo=ZoneInfo("America/Santiago"))
    commands.fill(venue, now=now)
    assert findings(now) == []


@pytest.mark.exhaustive
def test_filling_again_changes_nothing_for_some_hours(sandbox: Venue) -> None:
    commands.fill(sandbox, now=EVENING)
    before = set(Event.objects.values_list("pk", flat=True))
    assert commands.fill(sandbox, now=EVENING + timedelta(hours=2)) == {}
    assert set(Event.objects.values_list("pk", flat=True)) == before
    later = EVENING + timedelta(hours=3)
    assert commands.fill(sandbox, now=later).keys() == {"orders", "reservations", "API calls"}
    assert sum(stages(sandbox, now=later).values()) == 20
    assert Order.objects.filter(business_date=EVENING.date()).count() == 12
    assert findings(later) == []


@pytest.mark.exhaustive
def test_demo_moves_to_another_day_around_what_people_have_changed(sandbox: Venue) -> None:
    commands.fill(sandbox, now=EVENING)
    orders = list(Order.objects.filter(status="pending").order_by("created_at"))
    completed = orders[0]
    completed.venue = sandbox
    orders_commands.change_status(completed, "completed", now=EVENING, actor=STAFF)
    late = next(row for row in Reservation.objects.all() if stage_of(row, now=EVENING) == "late")
    check_in.record_arrival(late, Reservation.Arrival.SEATED, actor=STAFF, now=EVENING)
    own_order = builders.order(sandbox, now=EVENING)
    own_reservation = builders.reservation(
        sandbox, status="confirmed", starts_at=datetime(2026, 11, 26, 19, tzinfo=UTC), customer_email="me@example.com"
    )
    MenuItem.objects.filter(ref="margherita").update(price=11)
    GuestProfile.objects.filter(note__startswith="Nut allergy").update(note="Nut allergy: sits outside")
    Table.objects.filter(name="T7").update(name="Big")
    before = set(Order.objects.filter(business_date__lt=EVENING.date()).values_list("pk", flat=True))

    commands.fill(sandbox, now=NEXT_DAY)
    assert findings(NEXT_DAY) == []
    assert sum(stages(sandbox, now=NEXT_DAY).values()) == 20
    assert Order.objects.filter(business_date=NEXT_DAY.date()).count() == 12
    # Thirty past days: the first is gone, the others are the same, and yesterday is complete.
    after = set(Order.objects.filter(business_date__lt=EVENING.date()).values_list("pk", flat=True))
    assert after < before
    assert Order.objects.dates("business_date", "day").count() == 31
    yesterday = records.list_plans(sandbox, now=NEXT_DAY)
    planned = sum(plan.placed_at.astimezone(ROME).date() == EVENING.date() for plan, _ in yesterday)
    assert Order.objects.filter(business_date=EVENING.date()).count() == planned + len((completed, own_order))
    assert Order.objects.filter(status="pending").exclude(pk=own_order.pk).count() == 7
    for row in (completed, late, own_order, own_reservation):
        seen = (row.status, row.version, row.created_at)
        row.refresh_from_db()
        assert (row.status, row.version, row.created_at) == seen
    assert MenuItem.objects.get(ref="margherita").price == 11
    assert GuestProfile.objects.filter(note="Nut allergy: sits outside").count() == 1
    assert Table.objects.filter(name="Big").count() == 1
    assert (MenuItem.objects.count(), Table.objects.count(), GuestProfile.objects.count()) == (21, 10, 10)
    assert DemoData.objects.get().filled_at == NEXT_DAY
    calls = sum(ApiCallCount.objects.values_list("calls", flat=True))
    assert calls == ApiCall.objects.count()


@pytest.mark.exhaustive
def test_removal_leaves_what_people_have_added(sandbox: Venue) -> None:
    commands.fill(sandbox, now=EVENING)
    order = Order.objects.filter(status="pending")[0]
    order.venue = sandbox
    orders_commands.change_status(order, "cancelled", now=EVENING, actor=STAFF)
    own_order = builders.order(sandbox, now=EVENING)
    own_reservation = builders.reservation(
        sandbox, status="confirmed", starts_at=datetime(2027, 1, 2, 19, tzinfo=UTC), party_size=8
    )
    api = builders.client(sandbox)
    assert api.get("/api/v1/orders").json()["pagination"]["total"] == Order.objects.count()

    added = {"orders": Order.objects.count() - 1, "reservations": Reservation.objects.count() - 1}
    removed = commands.remove(sandbox, now=EVENING)
    assert removed == {
        **added,
        "dishes": 21,
        "notes about guests": 10,
        # The tables of the own reservation stay.
        "tables": 10 - len(own_reservation.tables),
        "API calls": removed["API calls"],
    }
    assert removed["API calls"] > 900
    assert list(Order.objects.all()) == [own_order]
    assert list(Reservation.objects.all()) == [own_reservation]
    assert {*Event.objects.values_list("subject", flat=True)} == {own_order.pk, own_reservation.pk}
    assert [table.name for table in Table.objects.all()] == own_reservation.tables
    assert [
        model.objects.count()
        for model in (ServicePeriod, Menu, MenuCategory, MenuItem, GuestProfile, ApiCall, ApiCallCount)
    ] == [0] * 7
    assert (WebhookEndpoint.objects.count(), ApiKey.objects.filter(IS_DEMO).count()) == (0, 0)
    assert api.get("/api/v1/orders").json()["pagination"]["total"] == 1
    assert findings(EVENING) == []
    # The next order of the day does not repeat a number.
    assert builders.order(sandbox, now=EVENING).number == own_order.number + 1
    assert findings(EVENING) == []


@pytest.mark.exhaustive
def test_removal_from_an_untouched_sandbox_leaves_nothing(sandbox: Venue) -> None:
    commands.fill(sandbox, now=EVENING)
    commands.remove(sandbox, now=EVENING)
    assert [
        model.objects.count()
        for model in (Order, OrderNumber, Reservation, Event, Menu, Table, Area, ServicePeriod, GuestProfile, ApiKey)
    ] == [0] * 10
    sandbox.refresh_from_db()
    assert not sandbox.is_bookable_online
    assert commands.was_removed(sandbox)
    assert not commands.is_filled(sandbox)
    assert set(commands.remove(sandbox, now=EVENING).values()) == {0}
    commands.fill(sandbox, now=EVENING)
    assert Order.objects.filter(business_date=EVENING.date()).count() == 12
    assert findings(EVENING) == []


@pytest.mark.exhaustive
def test_alerts_of_the_demo_are_deleted_with_its_events(sandbox: Venue) -> None:
    commands.fill(sandbox, now=EVENING)
    subscription = AlertSubscription.objects.create(
        membership=users.membership(sandbox), venue=sandbox, channel="mail", kinds=[], next_send_at=EVENING
    )
    Alert.objects.bulk_create(Alert(event=event, subscription=subscription) for event in Event.objects.all())
    commands.remove(sandbox, now=EVENING)
    connection.check_constraints()
    assert (Event.objects.count(), Alert.objects.count()) == (0, 0)


@pytest.mark.exhaustive
def test_own_menu_and_tables_are_used_and_stay(db: None) -> None:
    venue = builders.venue(currency="USD", payment_methods=["voucher"], is_sandbox=True)
    builders.menu(venue, ramen="14.00")
    builders.table(venue, "Bar", seats_max=2)
    added = commands.fill(venue, now=EVENING)
    assert (added["dishes"], added["tables"]) == (0, 0)
    assert {*Order.objects.values_list("items__menu_item_id", flat=True)} == {"margherita", "ramen"}
    assert {*Order.objects.values_list("payment_method", "currency")} == {("voucher", "USD")}
    assert {name for row in Reservation.objects.all() for name in row.tables} == {"Bar"}
    assert findings(EVENING) == []
    commands.remove(venue, now=EVENING)
    assert (MenuItem.objects.count(), Table.objects.count(), ServicePeriod.objects.count()) == (2, 1, 0)
    assert DishPhoto.objects.count() == 0


@pytest.mark.exhaustive
def test_orders_without_a_published_menu_have_no_prices(db: None) -> None:
    venue = builders.venue(is_sandbox=True)
    Menu.objects.create(venue=venue)
    commands.fill(venue, now=EVENING)
    assert Order.objects.exclude(total=None).count() == 0
    assert findings(EVENING) == []


def test_live_venue_is_refused(venue: Venue) -> None:
    for call in (commands.fill, commands.remove):
        with pytest.raises(commands.NotASandbox):
            call(venue, now=EVENING)
    # Also if it became live after the page was opened.
    stale = Venue.objects.get(pk=venue.pk)
    stale.is_sandbox = True
    with pytest.raises(commands.NotASandbox):
        commands.fill(stale, now=EVENING)
    assert (Order.objects.count(), Reservation.objects.count(), Event.objects.count()) == (0, 0, 0)


@pytest.mark.exhaustive
def test_demo_sends_no_mail_and_no_webhook(sandbox: Venue) -> None:
    WebhookEndpoint.objects.create(venue=sandbox, url="https://hooks.example.com", secret=b"x")
    Venue.objects.update(mails_guests=True, when_full="waitlist")
    sandbox.refresh_from_db()
    commands.fill(sandbox, now=EVENING)
    for hours in range(0, 24 * 8, 12):
        now = EVENING + timedelta(hours=hours)
        queue.queue_reminders(now=now)
        waitlist.process_waitlist(sandbox, now=now)
        assert not delivery_queue.has_due(now=now)
    assert (GuestMail.objects.count(), OutgoingMail.objects.count()) == (0, 0)
    assert WebhookDelivery.objects.filter(state="pending").count() == 0
    endpoint = WebhookEndpoint.objects.get(deliveries__isnull=False, deliveries__state="failed")
    assert (endpoint.url, endpoint.disabled_reason) == ("https://orders.demo.example/hooks", "staff")


@pytest.mark.exhaustive
def test_key_of_the_demo_opens_nothing(sandbox: Venue, client: Client) -> None:
    commands.fill(sandbox, now=EVENING)
    key = ApiKey.objects.get()
    assert client.get("/api/v1/orders", headers={"authorization": f"Bearer {key.masked}"}).status_code == 401
    assert ApiKey.objects.with_text("").count() == 0


@pytest.mark.exhaustive
def test_fill_costs_a_fixed_number_of_queries(sandbox: Venue) -> None:
    commands.fill(sandbox, now=EVENING)
    # A move: the rows of each table are inserted by one COPY.
    with costing(39):
        commands.fill(sandbox, now=NEXT_DAY)


@pytest.mark.exhaustive
@pytest.mark.django_db(transaction=True)
def test_two_fills_at_once_fill_once() -> None:
    venue = builders.venue(is_sandbox=True)
    results: list[dict[str, int]] = []
    barrier = threading.Barrier(2)

    def run() -> None:
        barrier.wait()
        try:
            results.append(commands.fill(venue, now=EVENING))
        finally:
            connection.close()

    threads = [threading.Thread(target=run) for _ in range(2)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted(len(counts) for counts in results) == [0, 6]
    assert (MenuItem.objects.count(), Table.objects.count(), GuestProfile.objects.count()) == (21, 10, 10)
    assert sum(stages(venue, now=EVENING).values()) == 20
    assert findings(EVENING) == []


@pytest.mark.django_db(transaction=True)
@pytest.mark.stack
def test_killed_fill_is_repeated_as_a_whole() -> None:
    venue = builders.venue(is_sandbox=True)
    ApiCallCount.objects.create(venue=venue, hour=EVENING.replace(minute=0), calls=1)
    failures: list[Exception] = []
    pids: list[int] = []

    def run() -> None:
        try:
            connection.ensure_connection()
            pids.append(connection.connection.info.backend_pid)
            commands.fill(venue, now=EVENING)
        except (OperationalError, InterfaceError) as error:
            failures.append(error)
        finally:
            connection.close()

    with psycopg.connect(**connection.get_connection_params(), autocommit=True) as other, transaction.atomic():
        # The fill waits for this row after it has inserted orders and reservations.
        list(ApiCallCount.objects.select_for_update())
        thread = threading.Thread(target=run)
        thread.start()
        waits = "SELECT wait_event_type FROM pg_stat_activity WHERE pid = ANY(%s)"
        assert eventually(lambda: other.execute(waits, [pids]).fetchall() == [("Lock",)])
        other.execute("SELECT pg_terminate_backend(pid) FROM unnest(%s::int[]) AS pid", [pids])
        thread.join()
    assert len(failures) == 1
    assert (Order.objects.count(), Reservation.objects.count(), Event.objects.count()) == (0, 0, 0)
    assert not commands.is_filled(venue)
    commands.fill(venue, now=EVENING)
    assert (MenuItem.objects.count(), Table.objects.count(), GuestProfile.objects.count()) == (21, 10, 10)
    assert Order.objects.filter(business_date=EVENING.date()).count() == 12
    assert findings(EVENING) == []
