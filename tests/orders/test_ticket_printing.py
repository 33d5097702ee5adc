"""Kitchen tickets on a network printer: each once, later if the printer is away, and only where it is allowed."""

import json
import socket
from base64 import b64decode
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from datetime import UTC, datetime, timedelta
from ipaddress import ip_network
from threading import Event, Thread
from typing import Any

import pytest
from django.conf import settings
from django.db import connection
from redis import Redis

from accounts.models import Venue
from orders import tasks, ticket_printing
from orders.models import Order, OrderingSettings, OrderItem
from tests.support import builders

NOON = datetime(2026, 11, 21, 12, 0, tzinfo=UTC)


class Printer:
    """A printer that keeps what it gets."""

    def __init__(self) -> None:
        self.server = listen_on_free_port()
        self.port = self.server.getsockname()[1]
        self.jobs: list[bytes] = []
        self.thread = Thread(target=self.run)
        self.thread.start()

    def run(self) -> None:
        while True:
            try:
                client, _ = self.server.accept()
            except OSError:
                return
            with client, client.makefile("rb") as stream:
                self.jobs.append(stream.read())

    def close(self) -> bytes:
        """Switch it off; all that it has printed."""
        if self.thread.is_alive():
            self.server.shutdown(socket.SHUT_RDWR)
            self.server.close()
            self.thread.join()
        return b"".join(self.jobs)


def listen_on_free_port() -> socket.socket:
    """A socket on a port of printers that no other test uses."""
    for port in range(9100, 9110):
        try:
            return socket.create_server(("127.0.0.1", port))
        except OSError:
            continue
    raise OSError("all ports of printers are in use")


@pytest.fixture(autouse=True)
def allowed(settings: Any) -> None:
    ticket_printing.breakers.clear()
    settings.PRINTER_NETWORKS = [ip_network("127.0.0.0/8")]


@pytest.fixture
def printer() -> Iterator[Printer]:
    with closing(Printer()) as printer:
        yield printer


def print_new_tickets(now: datetime = NOON) -> None:
    """What the periodic task and the tasks of the venues do."""
    for venue in ticket_printing.find_venues_to_print(now=now):
        ticket_printing.print_tickets(venue, now=now)


def set_printer(venue: Venue, port: int, address: str = "127.0.0.1") -> None:
    OrderingSettings.objects.update_or_create(venue=venue, defaults={"printer_address": address, "printer_port": port})


@pytest.mark.exhaustive
def test_a_new_order_is_printed_once_with_its_number_due_time_table_lines_and_notes(
    venue: Venue, printer: Printer
) -> None:
    set_printer(venue, printer.port)
    items = [
        {"menu_item_id": "margherita", "quantity": 2, "notes": "no basil\n\x1bp0 well done"},
        {"menu_item_id": "crème brûlée", "quantity": 1},
    ]
    order = builders.order(venue, now=NOON, items=items)
    Order.objects.filter(pk=order.pk).update(is_dine_in=True, table="T5")
    cheese = {"name": "Cheese", "modifiers": [{"name": "Extra", "modifiers": []}]}
    OrderItem.objects.filter(order=order, position=0).update(modifiers=[cheese, {"name": "Large", "modifiers": []}])
    builders.order(venue, now=NOON, status="completed")
    builders.order(venue, now=NOON - timedelta(hours=3), customer_id="old")
    for _ in range(2):
        print_new_tickets(NOON + timedelta(seconds=5))
    order.refresh_from_db()
    assert order.ticket_printed_at == NOON + timedelta(seconds=5)
    output = printer.close()
    assert output.startswith(b"\x1b@")
    assert output.count(b"Order 1") == output.count(b"\x1dV") == 1
    for text in (
        b"Due 13:15",
        b"Table T5",
        b"DINE-IN",
        b"2 x margherita",
        b"+ Cheese",
        b"+ Extra",
        b"+ Large",
        b"> no basil",
        b">  p0 well done",
    ):
        assert text in output
    assert b"cr\x8ame br\x96l\x82e" in output
    assert b"\x1bp0" not in output
    assert b"old" not in output


@pytest.mark.parametrize(
    ("language", "texts"),
    [
        ("de", ["Bestellung 1", "F\xe4llig 13:15", "Tisch T5", "IM HAUS", "Bestellt 2026-11-21 13:00"]),
        ("ja", ["Order 1", "Due 13:15", "Table T5", "DINE-IN", "Placed 2026-11-21 13:00"]),
    ],
)
def test_a_ticket_is_in_the_language_of_the_venue_if_the_printer_has_its_characters(
    venue: Venue, language: str, texts: list[str]
) -> None:
    venue.language = language
    builders.order(venue, now=NOON)
    Order.objects.update(is_dine_in=True, table="T5")
    order = Order.objects.with_due_at(timedelta(minutes=15)).with_items().get()
    output = ticket_printing.build_ticket(order, venue).decode("cp437")
    assert [text for text in texts if text not in output] == []


def test_an_order_waits_for_a_printer_that_is_away(venue: Venue) -> None:
    with closing(listen_on_free_port()) as server:
        port = server.getsockname()[1]
        set_printer(venue, port)
        server.close()
        builders.order(venue, now=NOON)
        print_new_tickets()
        assert Order.objects.get().ticket_printed_at is None
    printer = Printer()
    set_printer(venue, printer.port)
    ticket_printing.breakers.clear()
    print_new_tickets()
    assert printer.close().count(b"Order 1") == 1


@pytest.mark.exhaustive
@pytest.mark.django_db(transaction=True)
def test_of_concurrent_runs_one_prints_each_order(printer: Printer) -> None:
    venue = builders.venue()
    set_printer(venue, printer.port)
    for _ in range(5):
        builders.order(venue, now=NOON)

    def run(_: int) -> None:
        try:
            print_new_tickets()
        finally:
            connection.close()

    with ThreadPoolExecutor(4) as threads:
        list(threads.map(run, range(8)))
    output = printer.close()
    assert [output.count(f"Order {number}".encode()) for number in range(1, 6)] == [1] * 5


@pytest.mark.exhaustive
@pytest.mark.django_db(transaction=True)
def test_a_printer_that_hangs_delays_no_other_printer(printer: Printer, monkeypatch: pytest.MonkeyPatch) -> None:
    hanging, venue = builders.venue(), builders.venue()
    set_printer(hanging, 9100, "127.0.0.2")
    set_printer(venue, printer.port)
    for each in (hanging, venue):
        builders.order(each, now=NOON)
    connect, is_called, is_over = socket.create_connection, Event(), Event()

    def hang(address: tuple[str, int], **options: Any) -> socket.socket:
        if address != ("127.0.0.2", 9100):
            return connect(address, **options)
        is_called.set()
        assert is_over.wait(30)
        raise TimeoutError

    monkeypatch.setattr(socket, "create_connection", hang)

    def run() -> None:
        try:
            ticket_printing.print_tickets(hanging.pk, now=NOON)
        finally:
            connection.close()

    with ThreadPoolExecutor(1) as threads:
        run_of_hanging = threads.submit(run)
        try:
            assert is_called.wait(30)
            ticket_printing.print_tickets(venue.pk, now=NOON)
            assert Order.objects.get(venue=venue).ticket_printed_at == NOON
            assert printer.close().count(b"Order 1") == 1
        finally:
            is_over.set()
        run_of_hanging.result()
    assert Order.objects.get(venue=hanging).ticket_printed_at is None


def test_each_venue_with_tickets_to_print_gets_a_task_that_expires(venue: Venue, other_venue: Venue) -> None:
    for each in (venue, other_venue, builders.venue()):
        builders.order(each)
    for each in (venue, other_venue):
        set_printer(each, 9100)
    broker = Redis.from_url(settings.BROKER_URL)
    broker.delete(settings.CELERY_TASK_DEFAULT_QUEUE)
    tasks.print_tickets.run()
    queue = [json.loads(message) for message in broker.lrange(settings.CELERY_TASK_DEFAULT_QUEUE, 0, -1)]
    assert {task["headers"]["task"] for task in queue} == {"orders.tasks.print_tickets_of_venue"}
    assert all(task["headers"]["expires"] for task in queue)
    arguments = [json.loads(b64decode(task["body"]))[1] for task in queue]
    assert sorted(each["venue"] for each in arguments) == sorted([str(venue.pk), str(other_venue.pk)])


def test_a_printer_that_has_failed_is_left_alone_for_a_while(venue: Venue, monkeypatch: pytest.MonkeyPatch) -> None:
    set_printer(venue, 9100)
    builders.order(venue, now=NOON)
    calls: list[Any] = []

    def refuse(address: tuple[str, int], **_: Any) -> socket.socket:
        calls.append(address)
        raise ConnectionRefusedError

    monkeypatch.setattr(socket, "create_connection", refuse)
    for _ in range(2):
        print_new_tickets()
    assert calls == [("127.0.0.1", 9100)]
    ticket_printing.breakers["127.0.0.1", 9100].next_probe_at = 0
    print_new_tickets()
    assert len(calls) == 2


@pytest.mark.parametrize("address", ["10.0.0.1", "::1", "169.254.169.254"])
def test_an_address_that_is_not_allowed_now_gets_nothing(
    venue: Venue, monkeypatch: pytest.MonkeyPatch, address: str
) -> None:
    set_printer(venue, 9100, address)
    builders.order(venue, now=NOON)
    monkeypatch.setattr(socket, "create_connection", lambda *_, **__: pytest.fail("connected"))
    print_new_tickets()
    assert Order.objects.get().ticket_printed_at is None
