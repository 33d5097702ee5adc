"""The data export of an account (GDPR, article 20): a streamed zip of JSON files.

Apps above this one add their files to FILES in AppConfig.ready.
"""

import json
import zipfile
from collections.abc import Callable, Iterable, Iterator
from operator import attrgetter
from typing import Any

from django.core.serializers.json import DjangoJSONEncoder
from django.db.models import QuerySet

from accounts.models import (
    Account,
    ApiCall,
    ApiKey,
    Invitation,
    Membership,
    OAuthApp,
    OAuthGrant,
    StaffAccess,
    Venue,
    WebhookEndpoint,
)
from framework.public_ids import encode

BATCH = 500
CHUNK_BYTES = 65_536

Rows = Callable[[Account], Iterable[dict[str, Any]]]


class StreamBuffer(bytearray):
    """The bytes that ZipFile wrote and nobody has read yet."""

    def write(self, data: bytes) -> int:
        self += data
        return len(data)

    def flush(self) -> None:
        """ZipFile calls it; there is nothing to flush."""

    def pop_all(self) -> bytes:
        """Return and remove the bytes."""
        data = bytes(self)
        self.clear()
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
                    if len(stream) > CHUNK_BYTES:
                        yield stream.pop_all()
                file.write(b"[]\n" if separator == b"[\n" else b"\n]\n")
    yield stream.pop_all()


def iterate_in_batches(rows: QuerySet[Any]) -> Iterator[Any]:
    """Yield the rows by primary key, in batches: no statement is long, and no cursor stays open."""
    last = None
    while batch := list((rows.filter(pk__gt=last) if last else rows).order_by("pk")[:BATCH]):
        yield from batch
        last = batch[-1].pk


def select_fields(
    list_rows: Callable[[Account], QuerySet[Any]], *fields: str, **paths: str
) -> Callable[[Account], Iterator[dict[str, Any]]]:
    """Return a function for FILES that yields these attributes of rows; `paths` are attributes under another key."""
    getters = {key: attrgetter(path) for key, path in (paths | {name: name for name in fields}).items()}

    def list_records(account: Account) -> Iterator[dict[str, Any]]:
        for row in iterate_in_batches(list_rows(account)):
            yield {key: get(row) for key, get in getters.items()}

    return list_records


def list_members(account: Account) -> Iterator[dict[str, Any]]:
    """Yield the members with their venues."""
    rows = Membership.objects.filter(account=account).select_related("user").prefetch_related("venues")
    for row in iterate_in_batches(rows):
        yield {
            "email": row.user.email,
            "venues": [venue.public_id for venue in row.venues.all()],
            "role": row.role,
            "is_limited": row.is_limited,
            "created_at": row.created_at,
        }


def list_grants(account: Account) -> Iterator[dict[str, Any]]:
    """Yield what was granted to apps."""
    for row in iterate_in_batches(OAuthGrant.objects.filter(account=account).select_related("app", "user", "venue")):
        yield {
            "id": row.public_id,
            "app": row.app.client_id,
            "name": row.app.name,
            "email": row.user.email if row.user else None,
            "venue": row.venue.public_id if row.venue else None,
            "resource": row.resource,
            "scopes": row.scopes,
            "created_at": row.created_at,
            "last_used_at": row.last_used_at,
            "revoked_at": row.revoked_at,
        }


# Each file is a JSON list of these rows, without secrets.
FILES: dict[str, Rows] = {
    "account": lambda account: [
        {"id": encode("acc", account.pk), "name": account.name, "created_at": account.created_at}
    ],
    "members": list_members,
    "invitations": select_fields(
        lambda account: Invitation.objects.filter(account=account),
        *("email", "role", "created_at", "expires_at", "accepted_at"),
    ),
    "venues": select_fields(
        lambda account: Venue.objects.filter(account=account),
        *("name", "timezone", "currency", "is_sandbox", "address", "phone", "max_days_ahead"),
        *("auto_confirm_max_party", "when_full", "mails_guests", "prices_include_tax", "payment_methods"),
        *("is_bookable_online", "proves_guests", "forgets_guests_after_days", "created_at"),
        id="public_id",
    ),
    "keys": select_fields(
        lambda account: ApiKey.objects.issued().filter(venue__account=account).select_related("venue"),
        *("name", "scopes", "allowance", "created_at", "has_data_access", "expires_at", "revoked_at", "last_used_at"),
        id="public_id",
        venue="venue.public_id",
        key="masked",
    ),
    "apps": select_fields(
        lambda account: OAuthApp.objects.filter(account=account),
        *("client_id", "name", "redirect_uris", "own_scopes", "created_at", "disabled_at"),
    ),
    "grants": list_grants,
    "webhooks": select_fields(
        lambda account: WebhookEndpoint.objects.filter(venue__account=account).select_related("venue"),
        *("url", "description", "types", "created_at", "disabled_at"),
        id="public_id",
        venue="venue.public_id",
    ),
    "staff_access": select_fields(
        lambda account: StaffAccess.objects.filter(venue__account=account).select_related("venue"),
        *("email", "opened_at"),
        venue="venue.public_id",
    ),
    "requests": select_fields(
        lambda account: ApiCall.objects.filter(venue__account=account).select_related("venue"),
        *("method", "path", "query", "status", "error_code", "duration_ms", "address", "created_at"),
        id="public_id",
        venue="venue.public_id",
    ),
}
