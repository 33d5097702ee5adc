"""Random stories of deposits: guests book, repeat, move and cancel at several doors, while things fail.

A story is one restaurant, two or three guests and some actions. Before an action the process may be killed at any of
its SQL statements, the database may fail there, and the facilitator or the node may fail or be overtaken. All
randomness but that of threads comes from the number of the story, so that one that fails can be repeated.
"""

import itertools
import json
import random
from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass, field
from datetime import timedelta
from decimal import Decimal
from functools import partial
from typing import Any

from django.conf import settings
from django.db import IntegrityError, OperationalError, connection, transaction
from django.db.models import F
from django.test import Client, override_settings
from django.utils import timezone

from catalogue.bookings import deposits
from catalogue.models import Deposit, Restaurant
from framework.errors import ApiError
from payments.chain import reads
from payments.devchain.wallets import Wallet
from payments.ledger import chain_audit, reconcile
from payments.models import Payment
from payments.x402.proofs import PAYMENT_META
from reservations.booking import commands, terms
from reservations.models import AgreedTerms, CancellationTerms, Hold, Reservation
from reservations.service import check_in
from tests.catalogue.bookings import deposit_builders as builders
from tests.mcp.client import call
from tests.payments.buyer import at_once
from tests.payments.facilitators import Script, Server, hangs_up, refuses, says, serving
from tests.payments.faults import MADE_UP, STRANGER, later, settled_response
from tests.payments.signing import client_of
from tests.payments.transfers import front_run
from tests.security.live_product import passed_on
from tests.support import builders as base
from tests.support.wallets import transfer_usdc

STAFF = "staff:ada@example.com"
Arrival = Reservation.Arrival
addresses = (f"198.{51 + number // 62_500}.{number // 250 % 250}.{number % 250 + 1}" for number in itertools.count())


class KilledError(BaseException):
    """What a kill is to a process: nobody catches it."""


@contextmanager
def ending_at(nth: int, error: Callable[[], BaseException]) -> Iterator[None]:
    """Let so many statements of this connection through, and no other."""
    left = nth

    def wrapper(execute: Callable[..., Any], *statement: Any) -> Any:
        nonlocal left
        if not left:
            raise error()
        left -= 1
        return execute(*statement)

    with connection.execute_wrapper(wrapper):
        yield


@dataclass
class Shop:
    """The facilitator and the node that do what their `script` says, the real ones, and wallets with money."""

    facilitator: Server
    node: Server
    facilitator_url: str
    rpc_url: str
    wallets: list[Wallet]
    friend: Wallet
    # The last block and the money of our address before the first story.
    block: int
    before: Decimal

    @property
    def arrived(self) -> Decimal:
        """What the chain has brought our address since."""
        return builders.balance() - self.before

    def mend(self) -> None:
        self.facilitator.script = passed_on(f"{self.facilitator_url}/settle")
        self.node.script = passed_on(self.rpc_url)


@contextmanager
def opened(wallets: list[Wallet], friend: Wallet) -> Iterator[Shop]:
    nothing: Script = lambda _: None  # noqa: E731 - replaced at once
    with serving(nothing) as facilitator, serving(nothing) as node:
        urls, block = (str(settings.FACILITATOR_URL), settings.RPC_URL), reads.read_latest_block_number()
        shop = Shop(facilitator, node, *urls, wallets, friend, block, builders.balance())
        shop.mend()
        with override_settings(FACILITATOR_URL=facilitator.url, RPC_URL=node.url):
            yield shop


@dataclass
class Guest:
    """A guest, the door at which they book, what they have paid with, and what they were answered."""

    name: str
    body: dict[str, Any]
    door: str
    client: Client
    wallet: Wallet
    # Over MCP without one, the call itself is the key.
    key: str | None
    paid: list[Any] = field(default_factory=list)
    record: dict[str, Any] | None = None
    # What may have kept the deposit, and what may have returned it.
    may_be_kept: bool = False
    may_be_returned: bool = False

    def reservations(self) -> Any:
        return Reservation.objects.filter(customer_email=self.body["customer_email"])


@dataclass
class Story:
    """One story: what was done and what was answered."""

    number: int
    shop: Shop
    log: list[str] = field(default_factory=list)
    complaints: list[str] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.rng = random.Random(self.number)
        rng = self.rng
        self.place: Restaurant = builders.restaurant(f"story-{self.number}", tables=rng.choice([1, 1, 2]))
        self.api = base.client(self.place.listing.venue)
        time = rng.choice(["19:00", "20:30"])
        self.guests = [self.new_guest(name, time) for name in ("ada", "grace", "mary")[: rng.choice([2, 2, 3])]]

    def new_guest(self, name: str, time: str) -> Guest:
        rng = self.rng
        wallet, address = rng.choice(self.shop.wallets), next(addresses)
        client = Client(REMOTE_ADDR=address) if rng.random() < 0.7 else client_of(wallet, address=address)
        body = builders.evening(
            rng.randint(3, 30),
            time,
            customer_name=name,
            customer_email=f"{name}.{self.number}@example.com",
            party_size=rng.choice([2, 2, 3]),
        )
        # Most of them want the same evening.
        if rng.random() < 0.8 and getattr(self, "day", None):
            body["date"] = self.day
        self.day: str = body["date"]
        door = rng.choice(["rest", "mcp"])
        key = None if door == "mcp" and rng.random() < 0.5 else f"{name}-{self.number}"
        return Guest(name, body, door, client, wallet, key)

    def run(self) -> "Story":
        rng = self.rng
        names, weights = zip(*ACTIONS.items(), strict=True)
        self.tell("book", partial(self.book, self.guests[0]))
        for _ in range(rng.randint(2, 5)):
            (name,) = rng.choices(names, weights=weights)
            booked = [guest for guest in self.guests if guest.record is not None]
            guest = rng.choice(self.guests if name in ASKING or not booked else booked)
            self.tell(f"{name} {guest.name}", partial(getattr(self, name), guest))
        self.end()
        return self

    def tell(self, name: str, action: Callable[[], Any]) -> None:
        """Do it, perhaps while something fails."""
        rng = self.rng
        fault = rng.choices(
            ["none", "killed", "database", "facilitator", "node", "both"], weights=[40, 20, 10, 20, 5, 5]
        )[0]
        nth = rng.randint(0, 110)
        happening = fault
        with ExitStack() as held:
            if fault in ("facilitator", "both"):
                happening = rng.choice(list(FAULTS))
                self.shop.facilitator.script = FAULTS[happening](self.shop)
            if fault == "node":
                self.shop.node.script = hangs_up
            if fault in ("killed", "both"):
                happening += f" killed at {nth}"
                held.enter_context(suppress(KilledError))
                held.enter_context(ending_at(nth, KilledError))
            if fault == "database":
                happening += f" away from {nth}"
                held.enter_context(ending_at(nth, lambda: OperationalError("server closed the connection")))
                held.enter_context(suppress(OperationalError))
            outcome = "interrupted"
            self.log.append(f"{name}: {happening} -> {outcome}")
            outcome = action()
            self.log[-1] = f"{name}: {happening} -> {outcome}"
        self.shop.mend()

    # Actions
    def ask(self, guest: Guest, paid: Any = None) -> tuple[int, Any]:
        """Ask for the table at the guest's door; returns the status, or 200 and 402 over MCP, and the answer."""
        if guest.door == "rest":
            answer = builders.post(self.place, guest.body, paid, key=guest.key, client=guest.client)
            status, content = answer.status_code, answer
            if status == 201:
                guest.record = answer.json()
        else:
            meta = {PAYMENT_META: paid} if paid else None
            given: dict[str, Any] = {**guest.body, **({"idempotency_key": guest.key} if guest.key else {})}
            content = call(guest.client, "book_table", meta=meta, slug=self.place.slug, **given)
            if content.get("isError"):
                structured = content.get("structuredContent", {})
                status = 402 if "accepts" in structured else 409
                if "internal" in str(content):
                    self.complaints.append(f"{guest.name}: {content}")
            else:
                status, guest.record = 201, content["structuredContent"]
        if status not in (201, 400, 402, 409, 429, 503):
            self.complaints.append(f"{guest.name} was answered {status}: {content.content!r}")
        return status, content

    def book(self, guest: Guest) -> Any:
        """Ask for the price, and pay it: mostly by a signed authorization, else by a transaction."""
        status, challenge = self.ask(guest)
        if status != 402:
            return status
        is_proven = "HTTP_AUTHORIZATION" in guest.client.defaults
        if is_proven and self.rng.random() < 0.2:
            # The wallet has a node of its own.
            with override_settings(RPC_URL=self.shop.rpc_url):
                sent = transfer_usdc(guest.wallet, settings.PAY_TO, self.asked(guest))
            paid: Any = {"X-Payment": sent} if guest.door == "rest" else {"transaction": sent}
        elif guest.door == "rest":
            paid = builders.payment(guest.wallet, challenge)
        else:
            paid = builders.tool_payment(guest.wallet, challenge)
        guest.paid.append(paid)
        return status, self.ask(guest, paid)[0]

    def asked(self, guest: Guest) -> Decimal:
        rows = CancellationTerms.objects.filter(venue=self.place.listing.venue)
        each: Decimal = rows.values_list("deposit_usdc", flat=True).first() or Decimal(10)
        return each * int(guest.body["party_size"])

    def repeat(self, guest: Guest) -> Any:
        """The same request with the last payment, or without one."""
        if not guest.paid:
            return self.book(guest)
        return self.ask(guest, guest.paid[-1] if self.rng.random() < 0.7 else None)[0]

    def repay(self, guest: Guest) -> Any:
        """The same request with a new payment."""
        return self.book(guest)

    def copies(self, guest: Guest) -> Any:
        """The same request with its payment, twice at once."""
        if not guest.paid:
            return self.book(guest)
        return [each[0] for each in at_once(2, lambda: self.ask(guest, guest.paid[-1])) if isinstance(each, tuple)]

    def cancel(self, guest: Guest) -> Any:
        if guest.record is None:
            return "nothing"
        self.expect_cancellation(guest)
        return self.cancel_at(guest, self.rng.choice(["rest", "mcp", "page"]))

    def expect_cancellation(self, guest: Guest) -> None:
        now = timezone.now()
        agreed = AgreedTerms.objects.filter(reservation__in=guest.reservations()).first()
        is_late = agreed is not None and agreed.free_until <= now
        guest.may_be_kept |= is_late
        guest.may_be_returned |= not is_late

    def cancel_at(self, guest: Guest, door: str) -> Any:
        record = guest.record
        assert record is not None
        match door:
            case "rest":
                return builders.send("delete", record).status_code
            case "mcp":
                named = {"booking_id": record["id"], "manage_token": record["manage_token"]}
                return "error" if call(Client(), "cancel_booking", **named).get("isError") else "cancelled"
            case "page":
                return Client().post(f"/guest/{record['manage_token']}/cancel").status_code
            case _:
                return self.cancel_by_venue(guest)

    def venue_cancels(self, guest: Guest) -> Any:
        guest.may_be_returned = True
        return self.cancel_by_venue(guest)

    def cancel_by_venue(self, guest: Guest) -> Any:
        reservation = guest.reservations().select_related("venue").first()
        if reservation is None:
            return "nothing"
        if self.number % 2:
            return self.api.delete(f"/api/v2/reservations/{reservation.public_id}").status_code
        return self.by_staff(lambda: commands.set_status(reservation, "cancelled", now=timezone.now(), actor=STAFF))

    def cancel_and_undo(self, guest: Guest) -> Any:
        """Staff cancel, and undo it."""
        reservation = guest.reservations().select_related("venue").filter(status="confirmed").first()
        if reservation is None:
            return "nothing"
        guest.may_be_returned = True
        former = {name: getattr(reservation, name) for name in commands.CANCELLATION_FIELDS}
        now = timezone.now()
        done = self.by_staff(lambda: commands.set_status(reservation, "cancelled", now=now, actor=STAFF))
        undo = partial(commands.undo_cancellation, reservation, former, version=reservation.version, mail=None)
        return done, self.by_staff(lambda: undo(now=timezone.now(), actor=STAFF))

    def by_staff(self, command: Callable[[], Any]) -> Any:
        try:
            command()
        except ApiError as refusal:
            return refusal.code
        return "done"

    def cancel_twice(self, guest: Guest) -> Any:
        """Two cancellations at once, at two doors."""
        if guest.record is None:
            return "nothing"
        self.expect_cancellation(guest)
        doors = iter(self.rng.sample(["rest", "mcp", "page", "venue"], 2))
        chosen = list(doors)
        guest.may_be_returned |= "venue" in chosen
        turns = iter(chosen)
        return [str(each) for each in at_once(2, lambda: self.cancel_at(guest, next(turns)))]

    def cancel_and_sweep(self, guest: Guest) -> Any:
        if guest.record is None:
            return "nothing"
        self.expect_cancellation(guest)
        works = iter([partial(self.cancel_at, guest, "rest"), partial(deposits.reconcile, now=timezone.now())])
        return [str(each) for each in at_once(2, lambda: next(works)())]

    def late(self, guest: Guest) -> Any:
        """The deadline of free cancellation passes."""
        past = timezone.now() - timedelta(minutes=1)
        return AgreedTerms.objects.filter(reservation__in=guest.reservations()).update(free_until=past)

    def begin(self, guest: Guest) -> Any:
        """The time of the reservation comes; with the deadline, which is before."""
        reservation = guest.reservations().filter(status="confirmed").first()
        if reservation is None or not reservation.seatings.exists():
            return "nothing"
        past = timezone.now() - timedelta(minutes=20)
        ends_at = reservation.ends_at + (past - reservation.starts_at)
        try:
            with transaction.atomic():
                reservation.seatings.update(during=(past, ends_at))
                Reservation.objects.filter(pk=reservation.pk).update(starts_at=past, ends_at=ends_at)
                AgreedTerms.objects.filter(pk=reservation.pk).update(free_until=past - timedelta(hours=24))
        except IntegrityError:
            return "another party is at its table"
        return "begun"

    def no_show(self, guest: Guest) -> Any:
        guest.may_be_kept = True
        return self.arrive(guest, Arrival.NO_SHOW)

    def arrives(self, guest: Guest) -> Any:
        guest.may_be_returned = True
        return self.arrive(guest, Arrival.ARRIVED)

    def arrive(self, guest: Guest, arrival: Reservation.Arrival) -> Any:
        reservation = guest.reservations().select_related("venue").first()
        if reservation is None:
            return "nothing"
        command = partial(check_in.record_arrival, reservation, arrival, actor=STAFF, now=timezone.now())
        return self.by_staff(command)

    def no_show_and_cancel(self, guest: Guest) -> Any:
        """Staff record that the party has not come, and others of them cancel it, at once."""
        if not guest.reservations().exists():
            return "nothing"
        guest.may_be_kept = guest.may_be_returned = True
        works = iter([partial(self.arrive, guest, Arrival.NO_SHOW), partial(self.cancel_by_venue, guest)])
        return [str(each) for each in at_once(2, lambda: next(works)())]

    def give_back(self, guest: Guest) -> Any:
        """Staff return a kept deposit."""
        reservation = guest.reservations().select_related("venue").first()
        if reservation is None:
            return "nothing"
        guest.may_be_returned = True
        return self.by_staff(lambda: terms.return_kept(reservation, actor=STAFF, now=timezone.now()))

    def move(self, guest: Guest) -> Any:
        if guest.record is None:
            return "nothing"
        choices: list[dict[str, Any]] = [{"time": "20:45"}, {"time": "18:15"}, {"party_size": 4}, {"party_size": 1}]
        changes = self.rng.choice(choices)
        return builders.send("patch", guest.record, **changes).status_code

    def reprice(self, _: Guest) -> Any:
        """The venue changes its terms."""
        each = self.rng.choice([None, Decimal(5), Decimal(10), Decimal(15)])
        CancellationTerms.objects.filter(venue=self.place.listing.venue).update(free_hours=24, deposit_usdc=each)
        return each

    def hold_ends(self, _: Guest) -> Any:
        """A quarter of an hour passes for the holds."""
        past = timezone.now() - timedelta(seconds=1)
        held = Hold.objects.filter(venue=self.place.listing.venue)
        return held.update(created_at=F("created_at") - timedelta(minutes=20), expires_at=past)

    def sweep(self, _: Guest) -> Any:
        """The sweep of payments, and that of deposits after a quarter of an hour."""
        reconcile.sweep(now=timezone.now())
        deposits.reconcile(now=timezone.now() + timedelta(minutes=16))
        return "swept"

    # The end
    def end(self) -> None:
        """Nothing fails any more: some guests ask once more, then time passes, and nothing may be wrong."""
        self.shop.mend()
        for guest in self.guests:
            if guest.paid and self.rng.random() < 0.5:
                self.log.append(f"{guest.name} at the end -> {self.ask(guest, guest.paid[-1])[0]}")
        time_passes(self.shop)
        self.log.append("time passes")
        for guest in self.guests:
            self.complaints += self.wrongs_of(guest)

    def wrongs_of(self, guest: Guest) -> Iterator[str]:
        """What may not be of one guest, after all was reconciled."""
        found = Deposit.objects.filter(booking__reservation__in=guest.reservations())
        rows = list(found.select_related("booking__reservation__agreed_terms", "payment"))
        states = [row.booking.reservation.agreed_terms.deposit_state for row in rows]
        if guest.record is not None and not guest.reservations().exists():
            yield f"{guest.name} was answered a booking, and there is none"
        live = guest.reservations().filter(status="confirmed").count()
        if live > 1:
            yield f"{guest.name} has {live} tables"
        if sum(row.payment.state in Payment.EARNED for row in rows) > 1:
            yield f"{guest.name} has paid twice"
        if "kept" in states and not guest.may_be_kept:
            yield f"{guest.name} has lost the deposit without a reason"
        if "returned" in states and not guest.may_be_returned:
            yield f"{guest.name} has the deposit back without a reason"

    def __str__(self) -> str:
        return "\n".join([f"story {self.number}", *self.log])


# The actions of guests who need no booking yet.
ASKING = ("book", "repeat", "repay", "copies")
# How often each action is taken.
ACTIONS: Mapping[str, int] = {
    "book": 8,
    "repeat": 8,
    "repay": 4,
    "copies": 2,
    "cancel": 6,
    "cancel_twice": 2,
    "cancel_and_sweep": 2,
    "venue_cancels": 2,
    "cancel_and_undo": 2,
    "late": 3,
    "begin": 2,
    "no_show": 2,
    "arrives": 2,
    "no_show_and_cancel": 1,
    "give_back": 1,
    "move": 4,
    "reprice": 2,
    "hold_ends": 2,
    "sweep": 3,
}


# What may happen to a settlement
def overtaken(shop: Shop) -> Script:
    """Another wallet sends the authorization to the chain first."""
    settle = passed_on(f"{shop.facilitator_url}/settle")

    def script(content: bytes) -> tuple[int, bytes] | None:
        front_run({"PAYMENT-SIGNATURE": json.dumps(json.loads(content)["paymentPayload"])}, sender=shop.friend)
        return settle(content)

    return script


def really(then: Script) -> Callable[[Shop], Script]:
    """It settles, and then does as the script says."""

    def fault(shop: Shop) -> Script:
        settle = passed_on(f"{shop.facilitator_url}/settle")

        def script(content: bytes) -> tuple[int, bytes] | None:
            settle(content)
            return then(content)

        return script

    return fault


def only(script: Script) -> Callable[[Shop], Script]:
    """It settles nothing, and does as the script says."""
    return lambda _: script


FAULTS: Mapping[str, Callable[[Shop], Script]] = {
    "busy": only(says(429, {"error": "busy"})),
    "busy, it says, and has settled": really(says(404, {"error": "not here"})),
    "hangs up": only(hangs_up),
    "settles and hangs up": really(hangs_up),
    "500": only(says(500, {"error": "internal"})),
    "settles and 500": really(says(500, {"error": "internal"})),
    "settles and junk": really(says(200, b"<html>")),
    "settles and is pending": really(refuses("settlement_pending", MADE_UP)),
    "rejects": only(refuses("invalid_exact_evm_insufficient_balance")),
    "rejects, it says, and has settled": really(refuses("invalid_exact_evm_insufficient_balance")),
    "settles, for another payer, it says": really(says(200, settled_response(payer=STRANGER))),
    "is overtaken": overtaken,
}


def time_passes(shop: Shop) -> None:
    """Let the sweeps of the next quarter of an hour run; the chain's clock goes on as ours does."""
    now = timezone.now()
    opens = Payment.objects.filter(state__in=["claimed", "unknown"])
    if opens.exists():
        opens.update(
            claimed_at=F("claimed_at") - timedelta(seconds=20), created_at=F("created_at") - timedelta(seconds=20)
        )
        with override_settings(RPC_URL=shop.rpc_url):
            shop.node.script = later(timedelta(minutes=13))
        reconcile.sweep(now=now)
        while opens.exists() and reconcile.sweep(now=now + timedelta(minutes=13), is_urgent=True):
            pass
        shop.mend()
    unconfirmed = Payment.objects.filter(state="settled", block=None, error="")
    if unconfirmed.exists():
        reconcile.sweep(now=now + timedelta(minutes=13))
    deposits.reconcile(now=now + timedelta(minutes=16))
    if builders.ledger_sum() != shop.arrived:
        # A facilitator has settled and said that it was not asked, and the payer has not returned: the daily audit.
        last, at = reads.read_latest_block_number(), now + timedelta(minutes=31)
        chain_audit.audit_span(settings.PAY_TO, shop.block + 1, last, now=at)
