"""Webhooks, mail and exports while their worker is killed again and again: all arrive, and are charged once."""

import hashlib
import random
import signal
import time
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass, field
from datetime import timedelta
from decimal import Decimal
from pathlib import Path
from threading import Event as Flag

import httpx
import psutil
import pytest
from django.conf import settings as conf
from django.core.management import call_command
from django.db import connection, transaction
from django.utils import timezone
from pytest_django import Settings

from accounts import mail_outbox
from accounts.models import Event, OutgoingMail, Venue, WebhookDelivery
from accounts.webhooks import endpoints
from catalogue.exports.storage import files
from catalogue.models import Export, ExportPart
from catalogue.models.exports import UNFINISHED
from config.dev_stack.processes import OWNER, Child, end, leftovers
from orders.models import Order
from payments.devchain.wallets import Wallet
from payments.models import Payment, Plan
from payments.models import Wallet as KnownWallet
from reservations.models import GuestMail, Reservation
from tests.accounts.webhook_receivers import Answer, Received, receiving
from tests.catalogue.exports import export_builders, worker_processes
from tests.catalogue.exports.export_builders import EXPORTS
from tests.payments.buyer import signed_by
from tests.payments.signing import client_of
from tests.support import builders
from tests.support.live_server import served, working
from tests.support.live_stack import eventually
from tests.support.smtp_server import Postbox, postbox
from tests.support.wallets import fresh_wallet, usdc_balance

pytestmark = [
    pytest.mark.chaos,
    pytest.mark.django_db(transaction=True),
    pytest.mark.usefixtures("ledger_matches_chain"),
]

KILLS = 30
# From one kill to the next, besides the start of a worker.
MAX_RUN_S = 5.0
DICE = random.Random(14)
# Two parts of an export.
REVIEWS = 60_000
FORMATS = ("jsonl.gz", "csv.gz", "parquet")
PRICE, BUDGET = Decimal("0.8"), Decimal(500)
RECEIVERS = 3
# Requests and mails take as long as at receivers elsewhere, so that a kill meets some of them.
RECEIVER_DELAY_S, MAIL_SERVER_DELAY_S = 0.5, 0.3
# The longest lease is that of a mail to a guest, 150 s; then a periodic task finds it within a minute.
DONE_WITHIN_S = 300.0

# Number, rows and SHA-256 of each file of an export.
Files = Sequence[tuple[int, int | None, str]]


@dataclass
class Worker:
    """The worker of the README with its beat, started again when it ends, as `up` does."""

    child: Child
    home: Path

    def processes(self) -> list[psutil.Process]:
        """The main process, then the others: those that run tasks, and the beat."""
        main = psutil.Process(self.child.pid)
        return [main, *main.children(recursive=True)]

    def kill_all(self) -> None:
        for process in self.processes():
            with suppress(psutil.NoSuchProcess):
                process.kill()
        assert eventually(lambda: not self.child.is_running())

    def kill_main(self) -> None:
        self.processes()[0].kill()
        assert eventually(lambda: not self.child.is_running())

    def kill_one(self) -> None:
        """Kill one of the others, which the main process has to replace."""
        DICE.choice(self.processes()[1:]).kill()

    def keep_running(self) -> None:
        """If it has ended, stop what is left of it, start it, and wait until it takes messages."""
        if not self.child.is_running():
            session, starts = self.child.pid, self.count_starts()
            end(lambda: [left for left in leftovers(self.home) if left.session == session], signal.SIGTERM)
            self.child.start()
            assert eventually(lambda: self.count_starts() > starts)

    def count_starts(self) -> int:
        return self.child.log.read_text().count(" ready.\n")


@dataclass
class Work:
    """What the product was asked to do, and what has arrived of it."""

    orders: set[str] = field(default_factory=set)
    # Addresses of guests, by reservation.
    guests: dict[str, str] = field(default_factory=dict)
    users: set[str] = field(default_factory=set)
    # Formats, by export.
    exports: dict[str, str] = field(default_factory=dict)
    # By receiver.
    webhooks: dict[str, list[Received]] = field(default_factory=lambda: defaultdict(list))


@pytest.fixture
def folder(settings: Settings, tmp_path: Path) -> Path:
    return export_builders.keep_in(settings, tmp_path / "exports")


@pytest.fixture
def shop(prices: None) -> Venue:
    """A venue with a menu, and with tables every evening."""
    venue = builders.venue()
    builders.menu(venue)
    builders.period(venue)
    for number in range(20):
        builders.table(venue, f"T{number}")
    return venue


@pytest.fixture
def buyer(shop: Venue) -> Wallet:
    """A wallet of the venue's account whose plan is Enterprise."""
    wallet = fresh_wallet(BUDGET)
    known = KnownWallet.objects.create(address=wallet.address, account=shop.account)
    Plan.objects.create(name="Contract", wallet=known, valid_from=timezone.now())
    return wallet


@contextmanager
def subscribed(venue: Venue, work: Work) -> Iterator[None]:
    """A receiver of all events of a venue, which verifies each request."""
    secrets: list[str] = []

    def script(received: Received, _: int) -> Answer:
        received.verified(secrets[0])
        work.webhooks[receiver.url].append(received)
        time.sleep(random.random() * RECEIVER_DELAY_S)
        return Answer(204)

    with receiving(script) as receiver:
        secrets.append(endpoints.create(venue, url=receiver.url)[1])
        yield


@contextmanager
def at_work(base_url: str, work: Work, *, shop: Venue, buyer: Wallet) -> Iterator[None]:
    """Callers who order, book, are mailed and export until the end of the block."""
    key = builders.key(shop, allowance=1_000_000).text
    token = client_of(buyer).defaults["HTTP_AUTHORIZATION"]
    first_day = timezone.now() + timedelta(days=30)
    enough = Flag()

    def order(api: httpx.Client, number: int) -> None:
        answer = api.post("/api/v1/orders", json=builders.order_body())
        assert answer.status_code == 201, answer.text
        work.orders.add(answer.json()["id"])

    def book(api: httpx.Client, number: int) -> None:
        body = builders.reservation_body(
            date=(first_day + timedelta(days=number // 20)).date().isoformat(),
            customer_email=f"guest-{number}@example.com",
            party_size=2,
        )
        answer = api.post("/api/v1/reservations", json=body)
        assert (answer.status_code, answer.json().get("status")) == (201, "confirmed"), answer.text
        work.guests[answer.json()["id"]] = body["customer_email"]

    def mail(_: httpx.Client, number: int) -> None:
        address = f"user-{number}@example.com"
        with transaction.atomic():
            mail_outbox.enqueue("accounts/mail/second_factor_removed", {}, address=address, now=timezone.now())
        work.users.add(address)

    def export(format_: str) -> Callable[[httpx.Client, int], None]:
        def run(api: httpx.Client, number: int) -> None:
            wanted = {"dataset": "reviews", "format": format_}
            paid = signed_by(buyer, value=int(PRICE * 10**6))
            answer = api.post(EXPORTS, json=wanted, headers={"Authorization": token, **paid})
            assert answer.status_code == 202, answer.text
            work.exports[answer.json()["id"]] = format_
            record = Export.objects.known_as(answer.json()["id"])
            while record.filter(status__in=UNFINISHED).exists() and not enough.is_set():
                time.sleep(0.2)

        return run

    def repeat(step: Callable[[httpx.Client, int], None], pause_s: float) -> None:
        try:
            with httpx.Client(base_url=base_url, headers={"Authorization": f"Bearer {key}"}, timeout=30) as api:
                number = 0
                while not enough.is_set():
                    step(api, number)
                    number += 1
                    enough.wait(pause_s)
        finally:
            connection.close()

    steps = [(order, 0.4), (book, 0.6), (mail, 0.6), *((export(format_), 0.1) for format_ in FORMATS)]
    with ThreadPoolExecutor(len(steps)) as threads:
        calls = [threads.submit(repeat, step, pause_s) for step, pause_s in steps]
        try:
            yield
        finally:
            enough.set()
        for call in calls:
            call.result()


def files_of(export: Export) -> Files:
    return [(part.seq, part.rows, part.sha256) for part in export.parts.order_by("seq")]


def export_undisturbed() -> dict[str, Files]:
    """The files that an export of each format has if nothing is killed."""
    found = {}
    for format_ in FORMATS:
        export = worker_processes.create_queued(format=format_)
        export_builders.run_to_end(export)
        assert export.status == "succeeded", export.error
        found[format_] = files_of(export)
    return found


def is_done() -> bool:
    """Whether nothing is waiting for a worker."""
    waiting = (
        WebhookDelivery.objects.filter(state="pending"),
        GuestMail.objects.filter(state="pending"),
        OutgoingMail.objects.all(),
        Export.objects.filter(status__in=UNFINISHED),
        # Cleaned up after the export.
        Payment.objects.exclude(state=Payment.State.DELIVERED),
    )
    return not any(rows.exists() for rows in waiting)


def check_webhooks(work: Work) -> None:
    """Each receiver has got each event at least once, with one id and one body, and nothing else."""
    events = {event.public_id: event for event in Event.objects.all()}
    assert Counter(event.type for event in events.values()) == {
        "order.created": len(work.orders),
        "reservation.created": len(work.guests),
        "reservation.confirmed": len(work.guests),
        "export.finished": len(work.exports),
    }
    assert {event.record["id"] for event in events.values()} == work.orders | {*work.guests, *work.exports}
    assert len(work.webhooks) == RECEIVERS
    for received in work.webhooks.values():
        bodies = {(each.headers["webhook-id"], each.body) for each in received}
        assert {name for name, _ in bodies} == set(events)
        assert len(bodies) == len(events)
    deliveries = WebhookDelivery.objects.values_list("state", flat=True)
    assert Counter(deliveries) == {"delivered": RECEIVERS * len(events)}


def check_mail(work: Work, box: Postbox) -> None:
    """Each guest and each user has got the one mail, a second time only with the same Message-ID."""
    arrived = Counter((mail["To"], mail["Message-ID"]) for mail in box.mails)
    assert sorted(address for address, _ in arrived) == sorted([*work.guests.values(), *work.users])
    assert Counter(GuestMail.objects.values_list("kind", "state")) == {("confirmed", "sent"): len(work.guests)}
    assert Reservation.objects.count() == len(work.guests)


def check_exports(work: Work, buyer: Wallet, *, expected: Mapping[str, Files]) -> None:
    """Each has the files of an undisturbed one and no others, and was paid once."""
    for name, format_ in work.exports.items():
        export = Export.objects.known_as(name).get()
        assert (export.status, export.rows, files_of(export)) == ("succeeded", REVIEWS, expected[format_])
        stored = {f"{name}/{part.file}": part.sha256 for part in export.parts.all()}
        for path, digest in stored.items():
            with files.storage().open(path) as file:
                assert hashlib.sha256(file.read()).hexdigest() == digest
        stored |= {files.path_of_manifest(export, export.manifest_sha256): export.manifest_sha256}
        assert eventually(lambda: {f"{name}/{file}" for file in files.list_names(name)} == set(stored), within_s=90)  # noqa: B023
    assert Export.objects.filter(wallet__isnull=False).count() == len(work.exports)
    payments = Payment.objects.values_list("state", "amount_usdc")
    assert Counter(payments) == {(Payment.State.DELIVERED, PRICE): len(work.exports)}
    assert BUDGET - usdc_balance(buyer.address) == PRICE * len(work.exports)


def test_thirty_kills_of_the_worker_lose_no_webhook_mail_or_export_and_charge_none_twice(
    shop: Venue, buyer: Wallet, folder: Path, tmp_path: Path, settings: Settings
) -> None:
    settings.WEBHOOKS_TO_LOOPBACK = True
    worker_processes.restaurant_with_reviews(REVIEWS)
    expected, work = export_undisturbed(), Work()
    with ExitStack() as held:
        box = held.enter_context(postbox())
        box.delay_s = MAIL_SERVER_DELAY_S
        for _ in range(RECEIVERS):
            held.enter_context(subscribed(shop, work))
        environment = {
            "EMAIL_URL": box.url,
            "EXPORTS_DIR": str(folder),
            "WEBHOOKS_TO_LOOPBACK": "true",
            "WEBHOOK_ADDRESS_LIMIT": "0",
        }
        flags = ("--beat", "--schedule", str(tmp_path / "celerybeat-schedule"), "--concurrency", "2")
        names = {"queue": ",".join(conf.TASK_QUEUES), "REMAP_SIGTERM": "SIGQUIT", OWNER: str(tmp_path), **environment}
        worker = Worker(held.enter_context(working(tmp_path / "worker.log", *flags, **names)), tmp_path)
        assert eventually(lambda: worker.count_starts() == 1)
        base_url = held.enter_context(served(tmp_path / "web.log", **environment))
        with at_work(base_url, work, shop=shop, buyer=buyer):
            for number in range(KILLS):
                time.sleep(DICE.random() * MAX_RUN_S)
                worker.keep_running()
                (worker.kill_all, worker.kill_one, worker.kill_main, worker.kill_one)[number % 4]()
                worker.keep_running()
        began_at = time.monotonic()

        def is_settled() -> bool:
            worker.keep_running()
            return is_done()

        assert eventually(is_settled, within_s=DONE_WITHIN_S)
        took_s = time.monotonic() - began_at
        check_webhooks(work)
        check_mail(work, box)
        check_exports(work, buyer, expected=expected)
        assert Order.objects.count() == len(work.orders)
        # It raises if there is a finding.
        call_command("check_consistency", "--without-chain")
        # Each process is there again.
        assert eventually(lambda: len(worker.processes()) == 4)
    # The kills have met work of each kind.
    repeated = {
        "webhooks": WebhookDelivery.objects.filter(attempts__gt=1).count(),
        "mails": len(box.mails) - len(work.guests) - len(work.users),
        "parts": ExportPart.objects.filter(token__gt=1, export__wallet__isnull=False).count(),
    }
    print(  # noqa: T201 - figures
        f"{len(work.orders)} orders, {len(work.guests)} guests, {len(work.users)} users, {len(work.exports)} exports;"
        f" repeated: {repeated}; the rest took {took_s:.0f} s"
    )
    assert all(repeated.values())
