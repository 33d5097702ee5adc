"""The data export of an account (GDPR, article 20): a zip of JSON files, written while it is sent.

Apps above this one add their files to FILES in AppConfig.ready.
"""

import json
import zipfile
from collections.abc import Callable, Iterable, Iterator
from typing import Any

from django.core.serializers.json import DjangoJSONEncoder
from django.db.models import QuerySet

from accounts.models import Account, ApiCall, ApiKey, Invitation, Membership, WebhookEndpoint
from framework.public_ids import encode

PIECE = 500

Rows = Callable[[Account], Iterable[dict[str, Any]]]


class Pipe:
    """What a zip is written to: keeps what nobody has fetched yet. It cannot be rewound."""

    def __init__(self) -> None:
        self.waiting = bytearray()
        self.position = 0

    def write(self, piece: bytes) -> int:
        """Take a piece."""
        self.waiting += piece
        self.position += len(piece)
        return len(piece)

    def tell(self) -> int:
        """How much was written."""
        return self.position

    def flush(self) -> None:
        """Nothing is held back."""

    def fetch(self) -> bytes:
        """What waits."""
        piece, self.waiting = bytes(self.waiting), bytearray()
        return piece


def write(account: Account) -> Iterator[bytes]:
    """The zip, piece by piece. Holds a few hundred rows at a time; each piece is a query of its own."""
    pipe = Pipe()
    with zipfile.ZipFile(pipe, "w", zipfile.ZIP_DEFLATED) as archive:  # type: ignore[call-overload]  # a stream does
        for name, rows in FILES.items():
            with archive.open(f"{name}.json", "w", force_zip64=True) as file:
                between = b"[\n"
                for row in rows(account):
                    file.write(between + json.dumps(row, cls=DjangoJSONEncoder, ensure_ascii=False).encode())
                    between = b",\n"
                    if len(pipe.waiting) > 65_536:
                        yield pipe.fetch()
                file.write(b"[]\n" if between == b"[\n" else b"\n]\n")
            yield pipe.fetch()
    yield pipe.fetch()


def by_key(rows: QuerySet[Any]) -> Iterator[Any]:
    """All rows in the order of their keys, a few hundred at a time: no statement is long, and no cursor stays open."""
    last = None
    while piece := list((rows.filter(pk__gt=last) if last else rows).order_by("pk")[:PIECE]):
        yield from piece
        last = piece[-1].pk


def account_of(account: Account) -> Iterator[dict[str, Any]]:
    """The account."""
    yield {"id": encode("acc", account.pk), "name": account.name, "created_at": account.created_at}


def members_of(account: Account) -> Iterator[dict[str, Any]]:
    """Who works for it."""
    for one in by_key(Membership.objects.filter(account=account).select_related("user").prefetch_related("venues")):
        yield {
            "email": one.user.email,
            "role": one.role,
            "is_limited": one.is_limited,
            "venues": [venue.public_id for venue in one.venues.all()],
            "created_at": one.created_at,
        }


def invitations_of(account: Account) -> Iterator[dict[str, Any]]:
    """Who was asked to."""
    for one in by_key(Invitation.objects.filter(account=account)):
        yield {name: getattr(one, name) for name in ("email", "role", "created_at", "expires_at", "accepted_at")}


VENUE_SAYS = (
    "name",
    "timezone",
    "currency",
    "is_sandbox",
    "address",
    "phone",
    "max_days_ahead",
    "auto_confirm_max_party",
    "when_full",
    "mails_guests",
    "prices_include_tax",
    "payment_methods",
    "is_bookable_online",
    "proves_guests",
    "forgets_guests_after_days",
    "created_at",
)


def venues_of(account: Account) -> Iterator[dict[str, Any]]:
    """Its restaurants."""
    for one in by_key(account.venues.all()):
        yield {"id": one.public_id} | {name: getattr(one, name) for name in VENUE_SAYS}


def keys_of(account: Account) -> Iterator[dict[str, Any]]:
    """Its API keys, without what lets anybody in."""
    for one in by_key(ApiKey.objects.filter(venue__account=account).select_related("venue")):
        yield {"id": one.public_id, "venue": one.venue.public_id, "shown": one.shown} | {
            name: getattr(one, name)
            for name in ("name", "scopes", "allowance", "created_at", "expires_at", "revoked_at", "last_used_at")
        }


def webhooks_of(account: Account) -> Iterator[dict[str, Any]]:
    """Its endpoints, without their secrets."""
    for one in by_key(WebhookEndpoint.objects.filter(venue__account=account).select_related("venue")):
        yield {"id": one.public_id, "venue": one.venue.public_id} | {
            name: getattr(one, name) for name in ("url", "description", "types", "created_at", "disabled_at")
        }


def requests_of(account: Account) -> Iterator[dict[str, Any]]:
    """The request log, as far as it is kept."""
    for one in by_key(ApiCall.objects.filter(venue__account=account).select_related("venue")):
        yield {"id": one.public_id, "venue": one.venue.public_id} | {
            name: getattr(one, name)
            for name in ("method", "path", "query", "status", "error_code", "duration_ms", "address", "created_at")
        }


# The rows of each file, which become objects of one list.
FILES: dict[str, Rows] = {
    "account": account_of,
    "members": members_of,
    "invitations": invitations_of,
    "venues": venues_of,
    "keys": keys_of,
    "webhooks": webhooks_of,
    "requests": requests_of,
}
