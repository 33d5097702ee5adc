"""The payment history of a caller: the payments of the wallets that the caller has proven."""

from collections.abc import Collection
from datetime import datetime
from uuid import UUID

from django.db.models import Q

from accounts.api_keys.authentication import MissingCredentials
from framework.api.cache_headers import NO_STORE
from framework.api.pagination import cursor as pagination_cursor
from framework.api.pagination.cursor import CursorPage
from framework.errors import ErrorCode, InvalidRequest, NotFound
from payments.identity.caller import Caller
from payments.ledger import transitions
from payments.models import Payment

State = Payment.State
# The states as payers see them. Claimed and unknown payments look the same to a payer.
STATES: dict[str, tuple[State, ...]] = {
    "pending": (State.CLAIMED, State.UNKNOWN),
    "settled": (State.SETTLED,),
    "delivered": (State.DELIVERED,),
    "refund_due": (State.REFUND_DUE,),
    "refunded": (State.REFUNDED,),
    "expired": (State.EXPIRED,),
}
NAMES = {state: name for name, states in STATES.items() for state in states}


class RefundNotRequestable(InvalidRequest):
    """The payment has bought nothing yet, or its money is not ours."""

    code = ErrorCode.INVALID_TRANSITION


def get_payers(caller: Caller) -> frozenset[str]:
    """Return the wallets that the caller has proven. Raises MissingCredentials."""
    if not caller.is_identified:
        raise MissingCredentials(
            "Payments are shown to the wallet that has paid: sign in by POST /v1/auth/session, then"
            " `Authorization: Bearer ws_...`, or send SIGN-IN-WITH-X with the request."
        )
    return caller.wallets


def list_payments(
    wallets: Collection[str],
    *,
    limit: int,
    now: datetime,
    state: str | None = None,
    product: str | None = None,
    since: datetime | None = None,
    until: datetime | None = None,
    cursor: str | None = None,
) -> CursorPage[Payment]:
    """Return a page of the payments of these wallets, newest first, from `since` inclusive to `until` exclusive.

    Each wallet's newest payments are read by their index: one query for one wallet, two for several, none without a
    wallet. Raises InvalidCursor.
    """
    question = pagination_cursor.fingerprint("payments", sorted(wallets), state, product, since, until)
    lookups = {
        "state__in": STATES[state] if state else None,
        "products__contains": [product] if product else None,
        "created_at__gte": since,
        "created_at__lt": until,
    }
    condition, as_of = Q(**{name: value for name, value in lookups.items() if value is not None}), now
    if cursor is not None:
        position = pagination_cursor.decode_cursor(cursor, question=question, now=now)
        as_of, last = position.as_of, datetime.fromisoformat(str(position.after[0]))
        # The first part alone is what the index can use.
        condition &= Q(created_at__lte=last) & (Q(created_at__lt=last) | Q(pk__lt=UUID(str(position.after[1]))))
    order = ("-created_at", "-pk")
    by_wallet = [
        Payment.objects.filter(condition, payer=wallet).order_by(*order)[: limit + 1] for wallet in sorted(wallets)
    ]
    newest = by_wallet[0] if by_wallet else Payment.objects.none()
    if len(by_wallet) > 1:
        first, *others = (rows.values_list("pk", "created_at") for rows in by_wallet)
        keys = [key for key, _ in first.union(*others, all=True).order_by(*order)[: limit + 1]]
        newest = Payment.objects.filter(pk__in=keys).order_by(*order)
    rows = list(newest.select_related("refund"))
    next_cursor = None
    if len(rows) > limit:
        rows.pop()
        key = [rows[-1].created_at.isoformat(), rows[-1].pk.hex]
        next_cursor = pagination_cursor.encode_cursor(key, as_of=as_of, question=question)
    return CursorPage(rows=rows, limit=limit, next_cursor=next_cursor, as_of=as_of)


def get_payment(wallets: Collection[str], public_id: str) -> Payment:
    """Return the payment with this id. Raises NotFound, also for another wallet's payment. One query."""
    payment = Payment.objects.of(wallets).known_as(public_id).select_related("refund").first()
    if payment is None:
        raise NotFound("There is no such payment.", headers=NO_STORE)
    return payment


def request_refund(wallets: Collection[str], public_id: str, *, reason: str, now: datetime) -> Payment:
    """Ask for the money of a delivered payment back, which staff decide. Once: the first reason counts.

    Raises NotFound, and RefundNotRequestable with what happens instead.
    """
    payment = get_payment(wallets, public_id)
    if set(payment.products) & set(Payment.OF_VENUES):
        raise RefundNotRequestable("The restaurant has this money: cancel the booking or the order, or ask there.")
    if payment.state == State.DELIVERED:
        transitions.request_refund(payment.pk, reason=reason, now=now)
        payment.refresh_from_db(fields=["state", "refund_requested_at", "refund_request", "refund_declined_at"])
        return payment
    if payment.state in (State.REFUND_DUE, State.REFUNDED):
        return payment
    text = "Only money that has bought an answer is asked back; what buys nothing is refunded without a request."
    raise RefundNotRequestable(f"{text} This payment is `{NAMES[State(payment.state)]}`.")


def get_reason(payment: Payment) -> tuple[str | None, str | None]:
    """Return why a refund is due or the payment was not settled: a code, and a message for people."""
    if payment.state in (State.REFUND_DUE, State.REFUNDED):
        code, _, message = payment.error.partition(": ")
        return code or None, message or None
    if payment.state == State.EXPIRED:
        return "not_settled", payment.error or None
    return None, None
