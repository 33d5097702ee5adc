"""Signed links by which the files of an export are fetched, and what they lead to."""

import logging
import math
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Any
from urllib.parse import urlencode

from catalogue.exports import formats
from catalogue.exports.downloads import byte_ranges
from catalogue.exports.storage import files, manifest
from catalogue.models import Export
from catalogue.models.exports import UNFINISHED
from framework.api.urls import public_url
from framework.errors import ApiError, ErrorCode, NotFound, ServiceUnavailable
from framework.signed_tokens import BadSignature, TokenSigner

logger = logging.getLogger(__name__)

# So long a link is good; the export's own end may come before.
GOOD_FOR = timedelta(hours=1)
MANIFEST = "application/json"
# A cache between us and the reader may keep nothing for others, and unpack nothing.
CACHING = "private, no-transform"
SIGNER = TokenSigner("catalogue.exports.downloads.signed_urls")


class Gone(ApiError):
    """What the link led to has been removed, or the link's own time is over."""

    code = ErrorCode.GONE


class NotReady(ApiError):
    """The files are not written yet."""

    code = ErrorCode.EXPORT_NOT_READY


class Lost(ServiceUnavailable):
    """A file that should be there is not, or not as it was written. Ours to put right: it is an error in our log."""

    def __init__(self, place: str, why: object) -> None:
        logger.error("The file %s of an export is lost: %s", place, why)
        super().__init__("This file cannot be read just now. If that stays so, order the export again.")


@dataclass(frozen=True, slots=True)
class Kept:
    """A file that may be handed out: its place in the storage, and what is known of it without opening it.

    The size of one that is elsewhere is not asked for.
    """

    name: str
    place: str
    size: int
    sha256: str
    content_type: str

    def elsewhere(self, method: str, *, until: datetime, now: datetime) -> str | None:
        """Where it is fetched from by GET or HEAD until then, if it is in a bucket; None where we send it ourselves.

        The address is signed with our key, which it does not tell, and nobody is asked for it: a bucket that is away
        keeps nobody waiting here, and one that has lost the file says so itself.
        Raises ServiceUnavailable without a key.
        """
        if files.are_local():
            return None
        told = {
            "ResponseContentType": self.content_type,
            "ResponseContentDisposition": f'attachment; filename="{self.name}"',
            "ResponseCacheControl": CACHING,
        }
        seconds = max(1, math.ceil((until - now).total_seconds()))
        # The signature is of the method too. Django's storages know neither of them.
        bucket: Any = files.storage()
        try:
            url: str = bucket.url(self.place, parameters=told, expire=seconds, http_method=method)
        except OSError as error:
            raise Lost(self.place, error) from error
        return url

    def read(self, span: byte_ranges.Span) -> bytes:
        """Some of the bytes, or all of them. Raises Lost."""
        try:
            with files.storage().open(self.place, "rb") as file:
                file.seek(span.first)
                content: bytes = file.read(span.length)
        except OSError as error:
            raise Lost(self.place, error) from error
        return content


def is_kept(export: Export, *, now: datetime) -> bool:
    """Whether its time is not over, whether or not the sweeper has come by."""
    return export.expires_at is not None and now < export.expires_at


def good_until(export: Export, *, now: datetime) -> datetime:
    """When a link that is made now ends."""
    until = now + GOOD_FOR
    return until if export.expires_at is None else min(until, export.expires_at)


def link(export: Export, name: str, *, now: datetime) -> str:
    """The address of a file, good for an hour without any session; for less where the export ends before."""
    seconds = int(good_until(export, now=now).timestamp())
    query = urlencode({"until": seconds, "signature": SIGNER.signature(_signed(export.public_id, name, seconds))})
    return public_url(f"/v1/exports/{export.public_id}/files/{name}?{query}")


def check(public_id: str, name: str, *, until: int, signature: str, now: datetime) -> datetime:
    """Judge a link; when it ends. Raises NotFound for one that we did not make, Gone for one whose time is over."""
    try:
        SIGNER.unsign(f"{_signed(public_id, name, until)}:{signature}")
    except BadSignature as error:
        raise NotFound("This link is not one of ours: take it unchanged from the export's record.") from error
    ends = datetime.fromtimestamp(until, UTC)
    if now >= ends:
        raise Gone("This link is over: GET the export for a fresh one.")
    return ends


def kept(export: Export, name: str, *, now: datetime) -> Kept:
    """A file of an export by the name that callers know. Raises NotReady, Gone, NotFound and Lost.

    One query.
    """
    if export.status in UNFINISHED:
        raise NotReady("The files of this export are not written yet: its `status` says when they are.")
    if export.status != Export.Status.SUCCEEDED or not is_kept(export, now=now):
        raise Gone("The files of this export are gone, or there never were any: its `status` says why.")
    if name == manifest.NAME:
        place = files.path_of_manifest(export, export.manifest_sha256)
        return Kept(name, place, size=_size(place) or 0, sha256=export.manifest_sha256, content_type=MANIFEST)
    for part in export.parts.order_by("seq"):
        if manifest.file_name(export, part) == name:
            place = files.path_of(export, part)
            size = _size(place)
            if size not in (part.bytes, None):
                raise Lost(place, f"it has {size} bytes, of {part.bytes} that were written")
            content_type = formats.CONTENT_TYPES[export.format]
            return Kept(name, place, size=part.bytes or 0, sha256=part.sha256, content_type=content_type)
    raise NotFound("This export has no such file.")


def _size(place: str) -> int | None:
    if not files.are_local():
        return None
    try:
        return files.storage().size(place)
    except OSError as error:
        raise Lost(place, error) from error


def _signed(public_id: str, name: str, until: int) -> str:
    return f"{public_id}/{name}/{until}"
