"""Orders of guests: the form token of the ordering page, the limits of guests, and the order itself."""

import hashlib
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from datetime import datetime, timedelta
from decimal import Decimal
from typing import Any
from zoneinfo import ZoneInfo

import orjson
from django.conf import settings as django_settings
from django.utils.dateparse import parse_datetime

from accounts import idempotency
from accounts.models import Venue
from framework.api.error_handler import flatten_detail, invalid_request
from framework.api.rate_limits.middleware import count_within_an_hour, successes_within_an_hour
from framework.db.locks import AdvisoryLock
from framework.errors import ApiError, ErrorCode, InvalidRequest
from framework.public_ids import new_id
from framework.signed_tokens import BadSignature, KeyedHash, TokenSigner
from orders import capacity, commands
from orders.models import Order, OrderingSettings
from orders.ordering_page.hours import Hours
from orders.serializers import NewOrder

CHANNEL = "page"
# Orders that agents place for guests (catalogue.ucp), with the same limits.
AGENT_CHANNEL = "agent"
CHANNELS = (CHANNEL, AGENT_CHANNEL)
# Open orders of one phone at one venue; nothing is paid before the handover.
MAX_OPEN = 5
# From one IP address at one venue: the guests of a restaurant share that of its wireless network.
MAX_PER_HOUR = 60
# With those that are refused.
MAX_ATTEMPTS_PER_HOUR = 300
# People take longer to fill in the form.
MIN_FILL_S = 2
# CAIP-2 of Base: its USDC is money.
MAINNET = "eip155:8453"
FORM_LIFETIME = timedelta(hours=12)
VENUE_LOCK = AdvisoryLock("ordering page venue")
CUSTOMER_HASH = KeyedHash("orders.ordering_page.online_orders.customer")
FORM_SIGNER = TokenSigner("orders.ordering_page.online_orders.form")


class TooManyOrders(ApiError):
    """The phone has too many open orders."""

    code = ErrorCode.RATE_LIMIT_EXCEEDED


class PagePaused(ApiError):
    """The staff have paused the page."""

    code = ErrorCode.SLOT_UNAVAILABLE


class TooManyWaiting(ApiError):
    """As many orders of the page as the venue wants wait to be accepted."""

    code = ErrorCode.SLOT_UNAVAILABLE


class OutsideOpeningHours(ApiError):
    """The venue takes no orders at that time."""

    code = ErrorCode.SLOT_UNAVAILABLE


class StaleOrderForm(InvalidRequest):
    """The form token is invalid or expired."""


class SubmittedTooFast(InvalidRequest):
    """The form was submitted faster than a person can fill it in."""


def find_settings(venue: Venue) -> OrderingSettings | None:
    """Return the settings of a venue whose ordering page is open; None if it is closed. Needs its account."""
    settings: OrderingSettings | None = getattr(venue, "ordering_settings", None)
    return settings if settings and settings.is_page_open and venue.account.closed_at is None else None


def find_usdc_price(settings: OrderingSettings | None) -> Decimal | None:
    """Return the venue's price of one USDC; None where guests cannot pay in USDC."""
    return settings.usdc_price if settings and settings.takes_usdc and takes_usdc(settings.venue) else None


def takes_usdc(venue: Venue) -> bool:
    """Whether payments in USDC reach this installation; a sandbox takes none of real money.

    None with a clock of its own either: the chain has the real time.
    """
    is_real = django_settings.PAYMENT_NETWORK == MAINNET
    return bool(django_settings.PAY_TO) and not (venue.is_sandbox and (is_real or venue.clock_offset()))


def is_payable(order: Order) -> bool:
    """Whether the order can be paid in USDC now. A completed one was perhaps paid at the counter. Needs its venue."""
    is_due = order.payment_state == Order.PaymentState.DUE and order.status == Order.Status.PENDING
    return is_due and takes_usdc(order.venue)


def place_order(
    venue: Venue,
    *,
    body: Mapping[str, Any],
    form: str,
    address: str,
    hours: Hours,
    prep_minutes: int,
    expected_total: Decimal | None,
    now: datetime,
) -> str:
    """Place the order of a form, once however often the form is submitted; return its public id.

    `body` has the shape of `POST /orders` with the phone of the contact, `expected_total` is what the guest has seen,
    without the tip. Raises StaleOrderForm, SubmittedTooFast, RateLimitExceeded, TooManyOrders, PagePaused,
    TooManyWaiting, OutsideOpeningHours, IdempotencyKeyReused if the form has placed another order, and the errors of
    commands.place_order; then nothing is stored or counted.
    """
    key = validate_form_token(form, venue=venue, now=now)
    values = validate_body(body)
    call = identify(venue, body, key)

    def effect() -> idempotency.StoredResponse:
        record = place_within_limits(
            venue, values=values, hours=hours, prep_minutes=prep_minutes, expected_total=expected_total, now=now
        )
        return idempotency.StoredResponse(body=record["id"].encode(), status=201)

    if stored := idempotency.find_response(call):
        return stored.body.decode()
    with limited_by_address(venue, address):
        return idempotency.run_once(call, effect).body.decode()


def validate_body(body: Mapping[str, Any]) -> dict[str, Any]:
    """Return the values of a body in the shape of `POST /orders`. Raises InvalidRequest."""
    shape = NewOrder(data=dict(body))
    if not shape.is_valid():
        raise invalid_request(list(flatten_detail(shape.errors)))
    return dict(shape.validated_data)


@contextmanager
def limited_by_address(venue: Venue, address: str) -> Iterator[None]:
    """Count an attempt of this address at the venue, and an order unless the block raises an ApiError.

    Raises RateLimitExceeded.
    """
    caller = f"{venue.pk} {address}"
    count_within_an_hour("ordering-page-attempts", caller, limit=MAX_ATTEMPTS_PER_HOUR, what="attempts")
    with successes_within_an_hour("ordering-page", caller, limit=MAX_PER_HOUR, what="orders"):
        yield


def place_within_limits(
    venue: Venue,
    *,
    values: Mapping[str, Any],
    hours: Hours,
    prep_minutes: int,
    expected_total: Decimal | None,
    now: datetime,
) -> dict[str, Any]:
    """Place an order of a guest by the limits of the page; return its record. Call it in a transaction.

    `values` are those of `validate_body`, with the phone of the contact. Raises TooManyOrders, PagePaused,
    TooManyWaiting, OutsideOpeningHours, and the errors of commands.place_order.
    """
    settings = find_settings(venue)
    requested_at = values["fulfilment"].get("requested_at")
    # Of guests only: each order of the venue waits for the number of the one before in any case.
    VENUE_LOCK.acquire(venue.pk)
    check_open(settings, hours, requested_at=requested_at, now=now)
    check_waiting(venue, settings, now=now)
    is_open = {"status": Order.Status.PENDING, "contact_phone": values["fulfilment"]["contact"]["phone"]}
    if Order.objects.of(venue).filter(**is_open, channel__in=CHANNELS).count() >= MAX_OPEN:
        raise TooManyOrders(f"{MAX_OPEN} orders of this phone are open.", param="fulfilment.contact.phone")
    record = commands.place_order(
        venue,
        now=now,
        actor="guest",
        usdc_price=find_usdc_price(settings),
        expected_total=expected_total,
        **values,
    )
    promised_at = parse_datetime(record["promised_at"] or "")
    is_late = promised_at and not hours.includes_promise(promised_at, now=now, prep_minutes=prep_minutes)
    if requested_at is None and is_late:
        raise OutsideOpeningHours("The kitchen closes before.", param=capacity.PARAM)
    return record


def check_open(
    settings: OrderingSettings | None, hours: Hours, *, requested_at: datetime | None, now: datetime
) -> None:
    """Raise PagePaused or OutsideOpeningHours if the page takes no order for that time; None: as soon as possible."""
    if settings and settings.is_paused(now=now):
        raise PagePaused("The ordering page is paused.")
    if not hours.is_open(requested_at or now):
        raise OutsideOpeningHours("The venue takes no orders at this time.", param=capacity.PARAM)


def check_waiting(venue: Venue, settings: OrderingSettings | None, *, now: datetime) -> None:
    """Raise TooManyWaiting if as many of today's orders of guests as allowed wait to be accepted. One query."""
    today = now.astimezone(ZoneInfo(venue.timezone)).date()
    waiting = Order.objects.of(venue).filter(
        status=Order.Status.PENDING,
        kitchen_stage=Order.Stage.RECEIVED,
        channel__in=CHANNELS,
        business_date=today,
    )
    if settings and waiting.count() >= settings.max_waiting_orders:
        raise TooManyWaiting(f"{settings.max_waiting_orders} orders of the page wait to be accepted.")


def identify_customer(venue: Venue, phone: str) -> str:
    """Return the `customer_id` of a phone at this venue; the number itself is erased with the contact."""
    return f"guest_{CUSTOMER_HASH.hexdigest(f'{venue.pk} {phone}')[:16]}"


def identify(venue: Venue, body: Mapping[str, Any], key: str) -> idempotency.IdempotentRequest:
    return idempotency.IdempotentRequest(
        scope=f"page-{venue.pk.hex}",
        key=key,
        operation="order of the ordering page",
        body_sha256=hashlib.sha256(orjson.dumps(body, option=orjson.OPT_SORT_KEYS)).digest(),
        key_name="form",
    )


def new_form_token(venue: Venue, *, now: datetime) -> str:
    """Return a signed token for a form: its venue, a new key and the time."""
    return FORM_SIGNER.dump([venue.public_id, new_id().hex, int(now.timestamp())])


def validate_form_token(token: str, *, venue: Venue, now: datetime) -> str:
    """Return the key of the form. Raises StaleOrderForm, SubmittedTooFast."""
    expired = StaleOrderForm("This page has expired.")
    try:
        venue_id, key, created_s = FORM_SIGNER.load(token)
    except BadSignature as error:
        raise expired from error
    age_s = int(now.timestamp()) - created_s
    if venue_id != venue.public_id or age_s > FORM_LIFETIME.total_seconds():
        raise expired
    if age_s < MIN_FILL_S:
        raise SubmittedTooFast("The form was submitted too quickly.")
    return str(key)
