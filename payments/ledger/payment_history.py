"""What a payer is told of the payments of their wallets."""

from collections.abc import Collection, Sequence
from datetime import datetime
from functools import reduce
from uuid import UUID

from django.db.models import Q, QuerySet

from accounts.api_keys.authentication import MissingCredentials
from framework.api.cache_headers import NO_STORE
from framework.api.pagination import cursor as pagination_cursor
from framework.api.pagination.cursor import Listing
from framework.errors import NotFound
from payments.identity.caller import Caller
from payments.models import Payment

State = Payment.State
# How a payer calls the states: what is being settled, and what nobody saw the end of, is the same to them.
STATES: dict[str, tuple[State, ...]] = {
    "pending": (State.CLAIMED, State.UNKNOWN),
    "settled": (State.SETTLED,),
    "delivered": (State.DELIVERED,),
    "refund_due": (State.REFUND_DUE,),
    "refunded": (State.REFUNDED,),
    "expired": (State.EXPIRED,),
}
NAMES = {state: name for name, states in STATES.items() for state in states}


def payers(caller: Caller) -> frozenset[str]:
    """The wallets of a caller who has proven who they are. Raises MissingCredentials."""
    if not caller.is_identified:
        raise MissingCredentials(
            "Payments are shown to the wallet that has paid: sign in by POST /v1/auth/session, then"
            " `Authorization: Bearer ws_...`, or send SIGN-IN-WITH-X with the request."
        )
    return caller.wallets


def page(
    wallets: Collection[str],
    *,
    limit: int,
    now: datetime,
    state: str | None = None,
    product: str | None = None,
    since: datetime | None = None,
    until: datetime | None = None,
    cursor: str | None = None,
) -> Listing[Payment]:
    """A page of what these wallets have paid, newest first: `since` is in it, `until` is not.

    One query for one wallet and two for several, by the index of each wallet; none for none. Raises InvalidCursor.
    """
    question = pagination_cursor.fingerprint("payments", sorted(wallets), state, product, since, until)
    wanted, as_of = Q(), now
    if state is not None:
        wanted &= Q(state__in=STATES[state])
    if product is not None:
        wanted &= Q(products__contains=[product])
    if since is not None:
        wanted &= Q(created_at__gte=since)
    if until is not None:
        wanted &= Q(created_at__lt=until)
    if cursor is not None:
        place = pagination_cursor.decode_cursor(cursor, question=question, now=now)
        as_of, last = place.as_of, datetime.fromisoformat(str(place.after[0]))
        # The first condition is one that the index knows.
        wanted &= Q(created_at__lte=last) & (Q(created_at__lt=last) | Q(pk__lt=UUID(str(place.after[1]))))
    rows = list(_newest(sorted(wallets), wanted, limit + 1))
    following = None
    if len(rows) > limit:
        rows.pop()
        key = [rows[-1].created_at.isoformat(), rows[-1].pk.hex]
        following = pagination_cursor.encode_cursor(key, as_of=as_of, question=question)
    return Listing(rows=rows, limit=limit, next_cursor=following, as_of=as_of)


def _newest(wallets: Sequence[str], wanted: Q, most: int) -> QuerySet[Payment]:
    """The newest of these wallets; each wallet's own are found by its index, and no more of them than are shown."""
    order = ("-created_at", "-pk")
    each = [Payment.objects.filter(wanted, payer=wallet).order_by(*order)[:most] for wallet in wallets]
    if len(each) > 1:
        keys = [rows.values_list("pk", "created_at") for rows in each]
        merged = reduce(lambda some, more: some.union(more, all=True), keys).order_by("-created_at", "-pk")[:most]
        return Payment.objects.filter(pk__in=[key for key, _ in merged]).select_related("refund").order_by(*order)
    return each[0].select_related("refund") if each else Payment.objects.none()


def find(wallets: Collection[str], public_id: str) -> Payment:
    """The payment of this id. Raises NotFound for an unknown, a malformed and another wallet's id alike. One query."""
    row = Payment.objects.of(wallets).known_as(public_id).select_related("refund").first()
    if row is None:
        raise NotFound("There is no such payment.", headers=NO_STORE)
    return row


def reason(row: Payment) -> tuple[str | None, str | None]:
    """Why money is owed back, or was not settled: a word for programs, and one more for people."""
    if row.state in (State.REFUND_DUE, State.REFUNDED):
        word, _, words = row.error.partition(": ")
        return word or None, words or None
    if row.state == State.EXPIRED:
        return "not_settled", row.error or None
    return None, None
