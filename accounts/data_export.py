"""The data export of an account (GDPR, article 20): a streamed zip of JSON files.

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

BATCH = 500
CHUNK_BYTES = 65_536

Rows = Callable[[Account], Iterable[dict[str, Any]]]


class StreamBuffer:
    """A write-only file object for ZipFile that buffers the bytes which were not read yet."""

    def __init__(self) -> None:
        self.buffer = bytearray()
        self.position = 0

    def write(self, data: bytes) -> int:
        self.buffer += data
        self.position += len(data)
        return len(data)

    def tell(self) -> int:
        return self.position

    def flush(self) -> None:
        """ZipFile calls it; there is nothing to flush."""

    def pop(self) -> bytes:
        """Return and discard the buffered bytes."""
        data, self.buffer = bytes(self.buffer), bytearray()
        return data


def stream_zip(account: Account) -> Iterator[bytes]:
    """Yield the zip in chunks. Holds BATCH rows at a time; each batch is a query of its own."""
    stream = StreamBuffer()
    with zipfile.ZipFile(stream, "w", zipfile.ZIP_DEFLATED) as archive:  # type: ignore[call-overload]  # a stream does
        for name, list_rows in FILES.items():
            with archive.open(f"{name}.json", "w", force_zip64=True) as file:
                separator = b"[\n"
                for row in list_rows(account):
                    file.write(separator + json.dumps(row, cls=DjangoJSONEncoder, ensure_ascii=False).encode())
                    separator = b",\n"
                    if len(stream.buffer) > CHUNK_BYTES:
                        yield stream.pop()
                file.write(b"[]\n" if separator == b"[\n" else b"\n]\n")
            yield stream.pop()
    yield stream.pop()


def iterate_in_batches(rows: QuerySet[Any]) -> Iterator[Any]:
    """Yield the rows by primary key, in batches: no statement is long, and no cursor stays open."""
    last = None
    while batch := list((rows.filter(pk__gt=last) if last else rows).order_by("pk")[:BATCH]):
        yield from batch
        last = batch[-1].pk


def pick(row: Any, *names: str) -> dict[str, Any]:
    """Return these attributes of the row."""
    return {name: getattr(row, name) for name in names}


def list_account(account: Account) -> Iterator[dict[str, Any]]:
    """Yield the account."""
    yield {"id": encode("acc", account.pk), "name": account.name, "created_at": account.created_at}


def list_members(account: Account) -> Iterator[dict[str, Any]]:
    """Yield the members."""
    rows = Membership.objects.filter(account=account).select_related("user").prefetch_related("venues")
    for row in iterate_in_batches(rows):
        venues = [venue.public_id for venue in row.venues.all()]
        yield {"email": row.user.email, "venues": venues, **pick(row, "role", "is_limited", "created_at")}


def list_invitations(account: Account) -> Iterator[dict[str, Any]]:
    """Yield the invitations."""
    for row in iterate_in_batches(Invitation.objects.filter(account=account)):
        yield pick(row, "email", "role", "created_at", "expires_at", "accepted_at")


VENUE_FIELDS = (
    *("name", "timezone", "currency", "is_sandbox", "address", "phone", "max_days_ahead", "auto_confirm_max_party"),
    *("when_full", "mails_guests", "prices_include_tax", "payment_methods", "is_bookable_online", "proves_guests"),
    *("forgets_guests_after_days", "created_at"),
)


def list_venues(account: Account) -> Iterator[dict[str, Any]]:
    """Yield the venues."""
    for row in iterate_in_batches(account.venues.all()):
        yield {"id": row.public_id, **pick(row, *VENUE_FIELDS)}


def list_api_keys(account: Account) -> Iterator[dict[str, Any]]:
    """Yield the API keys without their secrets."""
    fields = ("name", "scopes", "allowance", "created_at", "expires_at", "revoked_at", "last_used_at")
    for row in iterate_in_batches(ApiKey.objects.filter(venue__account=account).select_related("venue")):
        yield {"id": row.public_id, "venue": row.venue.public_id, "key": row.masked, **pick(row, *fields)}


def list_webhooks(account: Account) -> Iterator[dict[str, Any]]:
    """Yield the webhook endpoints without their secrets."""
    fields = ("url", "description", "types", "created_at", "disabled_at")
    for row in iterate_in_batches(WebhookEndpoint.objects.filter(venue__account=account).select_related("venue")):
        yield {"id": row.public_id, "venue": row.venue.public_id, **pick(row, *fields)}


def list_requests(account: Account) -> Iterator[dict[str, Any]]:
    """Yield the request log."""
    fields = ("method", "path", "query", "status", "error_code", "duration_ms", "address", "created_at")
    for row in iterate_in_batches(ApiCall.objects.filter(venue__account=account).select_related("venue")):
        yield {"id": row.public_id, "venue": row.venue.public_id, **pick(row, *fields)}


# Each file is a JSON list of these rows.
FILES: dict[str, Rows] = {
    "account": list_account,
    "members": list_members,
    "invitations": list_invitations,
    "venues": list_venues,
    "keys": list_api_keys,
    "webhooks": list_webhooks,
    "requests": list_requests,
}
