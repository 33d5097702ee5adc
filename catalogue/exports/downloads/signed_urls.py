"""Signed download links of export files."""

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

LINK_LIFETIME = timedelta(hours=1)
MANIFEST_TYPE = "application/json"
# Shared caches must not store the file, and proxies must not decompress it.
CACHE_CONTROL = "private, no-transform"
SIGNER = TokenSigner("catalogue.exports.downloads.signed_urls")


class FilesGone(ApiError):
    """The files were deleted, or the link has expired."""

    code = ErrorCode.GONE


class FilesNotReady(ApiError):
    """The files are not written yet."""

    code = ErrorCode.EXPORT_NOT_READY


class FileLost(ServiceUnavailable):
    """A stored file is missing or damaged. This is an error of ours, so it is logged."""

    def __init__(self, path: str, reason: object) -> None:
        logger.error("The file %s of an export is lost: %s", path, reason)
        super().__init__("This file cannot be read just now. If that stays so, order the export again.")


@dataclass(frozen=True, slots=True)
class StoredFile:
    """A file that may be downloaded. The `size` of a file in a bucket is not checked."""

    name: str
    path: str
    size: int
    sha256: str
    content_type: str

    def redirect_url(self, method: str, *, until: datetime, now: datetime) -> str | None:
        """Return the presigned URL of a file in a bucket, for GET or HEAD until then; None for a local file.

        The URL is signed with our key, without a request: an unavailable bucket delays no caller here. Raises
        ServiceUnavailable without a key.
        """
        if files.is_local():
            return None
        parameters = {
            "ResponseContentType": self.content_type,
            "ResponseContentDisposition": f'attachment; filename="{self.name}"',
            "ResponseCacheControl": CACHE_CONTROL,
        }
        seconds = max(1, math.ceil((until - now).total_seconds()))
        # The signature covers the method; the Storage API of Django has no argument for it.
        bucket: Any = files.storage()
        try:
            url: str = bucket.url(self.path, parameters=parameters, expire=seconds, http_method=method)
        except OSError as error:
            raise FileLost(self.path, error) from error
        return url

    def read(self, span: byte_ranges.ByteRange | None = None) -> bytes:
        """Read a range of bytes, or all. Raises FileLost."""
        try:
            with files.storage().open(self.path, "rb") as file:
                if span:
                    file.seek(span.first)
                content: bytes = file.read(span.length if span else -1)
        except OSError as error:
            raise FileLost(self.path, error) from error
        return content


def is_available(export: Export, *, now: datetime) -> bool:
    """Whether the files have not expired, whether or not they were deleted yet."""
    return export.expires_at is not None and now < export.expires_at


def link_expiry(export: Export, *, now: datetime) -> datetime:
    """Return when a link that is created now expires."""
    until = now + LINK_LIFETIME
    return until if export.expires_at is None else min(until, export.expires_at)


def sign_url(export: Export, name: str, *, now: datetime) -> str:
    """Return the URL of a file, valid for an hour without a session; for less if the export expires earlier."""
    seconds = int(link_expiry(export, now=now).timestamp())
    query = urlencode(
        {"until": seconds, "signature": SIGNER.signature(_signed_value(export.public_id, name, seconds))}
    )
    return public_url(f"/v1/exports/{export.public_id}/files/{name}?{query}")


def verify_link(public_id: str, name: str, *, until: int, signature: str, now: datetime) -> datetime:
    """Check a link and return when it expires. Raises NotFound for a bad signature, FilesGone after expiry."""
    try:
        SIGNER.unsign(f"{_signed_value(public_id, name, until)}:{signature}")
    except BadSignature as error:
        raise NotFound("This link is not one of ours: take it unchanged from the export's record.") from error
    ends = datetime.fromtimestamp(until, UTC)
    if now >= ends:
        raise FilesGone("This link is over: GET the export for a fresh one.")
    return ends


def find_file(export: Export, name: str, *, now: datetime) -> StoredFile:
    """Return a file of an export by its public name. One query.

    Raises FilesNotReady, FilesGone, NotFound and FileLost.
    """
    if export.status in UNFINISHED:
        raise FilesNotReady("The files of this export are not written yet: its `status` says when they are.")
    if export.status != Export.Status.SUCCEEDED or not is_available(export, now=now):
        raise FilesGone("The files of this export are gone, or there never were any: its `status` says why.")
    if name == manifest.NAME:
        path = files.path_of_manifest(export, export.manifest_sha256)
        return StoredFile(
            name, path, size=_read_size(path) or 0, sha256=export.manifest_sha256, content_type=MANIFEST_TYPE
        )
    for part in export.parts.order_by("seq"):
        if manifest.file_name(export, part) == name:
            path = files.path_of(export, part)
            size = _read_size(path)
            if size not in (part.bytes, None):
                raise FileLost(path, f"it has {size} bytes, of {part.bytes} that were written")
            content_type = formats.CONTENT_TYPES[export.format]
            return StoredFile(name, path, size=part.bytes or 0, sha256=part.sha256, content_type=content_type)
    raise NotFound("This export has no such file.")


def _read_size(path: str) -> int | None:
    if not files.is_local():
        return None
    try:
        return files.storage().size(path)
    except OSError as error:
        raise FileLost(path, error) from error


def _signed_value(public_id: str, name: str, until: int) -> str:
    return f"{public_id}/{name}/{until}"
