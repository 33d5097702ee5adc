"""Downloads the photos that imports have listed, each once, from public addresses only."""

import io
import time
from collections.abc import Callable
from datetime import datetime, timedelta

import httpcore
from django.db import transaction
from django.db.models import QuerySet

from accounts.webhooks import address_limit, http_client, ssrf_guard
from catalogue.models import Photo, PhotoImport, Restaurant
from catalogue.photos.uploads import add_photo
from framework.images.uploads import ACCEPT, MAX_BYTES, InvalidImage, read_image
from framework.resilience.deadline import Deadline

TIMEOUT_S = 30.0
USER_AGENT = "Tablewire-Photos/1"
MAX_ERROR_LENGTH = 300
# The waits after a try that may succeed later. After the last one staff decide.
RETRY_AFTER = (timedelta(minutes=1), timedelta(minutes=10), timedelta(hours=1), timedelta(hours=6))
MAX_TRIES = len(RETRY_AFTER) + 1
# A worker that crashes during a try has used it up; the next one is after this time.
LEASE = timedelta(minutes=10)
# Answers after which a later try may succeed.
TEMPORARY_STATUSES = frozenset((408, 425, 429, 500, 502, 503, 504))


class DownloadFailed(Exception):
    """The photo cannot be downloaded; the message is for staff."""

    def __init__(self, message: str, *, is_temporary: bool = False) -> None:
        super().__init__(message)
        self.is_temporary = is_temporary


def download_due(*, clock: Callable[[], datetime], duration_s: float) -> bool:
    """Download photos that are due, one after another, for this time; return whether more are due.

    Any number of workers may run this at once. Neither a lock nor a transaction is held while a server answers.
    """
    started = time.monotonic()
    while time.monotonic() - started < duration_s:
        row = _claim(now=clock())
        if row is None:
            return False
        if row.tries > MAX_TRIES:
            _fail(row, DownloadFailed("Each try ended a worker."), now=clock())
            continue
        try:
            _store(row, fetch(row.url), now=clock())
        except address_limit.AddressBusy as busy:
            # Nothing was sent, so the try does not count.
            _update(row, tries=row.tries - 1, next_try_at=clock() + busy.wait)
        except InvalidImage as error:
            _fail(row, DownloadFailed(error.message), now=clock())
        except DownloadFailed as error:
            _fail(row, error, now=clock())
    return True


def fetch(url: str, *, timeout_s: float = TIMEOUT_S) -> bytes:
    """Return the file at a URL. Raises DownloadFailed and AddressBusy.

    Follows no redirects, connects to public addresses only, and stops after MAX_BYTES or the timeout.
    """
    guard = ssrf_guard.GuardedBackend(deadline=Deadline.after(timeout_s))
    headers = {"accept": ACCEPT, "user-agent": USER_AGENT}
    try:
        with (
            httpcore.ConnectionPool(ssl_context=http_client.get_ssl_context(), network_backend=guard) as connections,
            connections.stream("GET", ssrf_guard.parse_url(url), headers=list(headers.items())) as response,
        ):
            if response.status != 200:
                raise DownloadFailed(
                    f"The server answered {response.status}.", is_temporary=response.status in TEMPORARY_STATUSES
                )
            content = bytearray()
            for chunk in response.iter_stream():
                content += chunk
                if len(content) > MAX_BYTES:
                    raise DownloadFailed(f"The file is larger than {MAX_BYTES // 1024**2} MB.")
            return bytes(content)
    except (DownloadFailed, address_limit.AddressBusy):
        raise
    except Exception as error:
        message = http_client.describe_error(error, timeout_s=timeout_s)
        if message is None:
            raise
        is_temporary = isinstance(error, OSError | httpcore.NetworkError | httpcore.ProtocolError)
        raise DownloadFailed(http_client.replace_unprintable(message), is_temporary=is_temporary) from error


def retry(rows: QuerySet[PhotoImport], *, now: datetime) -> int:
    """Make the failed ones of a query set pending again. Returns how many."""
    failed = rows.filter(state=PhotoImport.State.FAILED)
    return failed.update(state=PhotoImport.State.PENDING, tries=0, next_try_at=now)


def _claim(*, now: datetime) -> PhotoImport | None:
    due = PhotoImport.objects.filter(state=PhotoImport.State.PENDING, next_try_at__lte=now)
    with transaction.atomic():
        row = due.order_by("next_try_at", "pk").select_for_update(skip_locked=True).first()
        if row:
            row.tries += 1
            row.next_try_at = now + LEASE
            row.save(update_fields=["tries", "next_try_at"])
    return row


def _store(row: PhotoImport, content: bytes, *, now: datetime) -> None:
    image = read_image(io.BytesIO(content), length=len(content))
    with transaction.atomic():
        # The restaurant first, as imports and mergers lock them.
        Restaurant.objects.select_for_update(of=("self",)).filter(photo_imports=row.pk).first()
        pending = PhotoImport.objects.filter(pk=row.pk, state=PhotoImport.State.PENDING)
        current = pending.select_for_update().first()
        # The import no longer lists it, or another worker has stored it after the lease.
        if current is None:
            return
        columns = ("restaurant_id", "source_id", "kind", "caption", "alt", "author", "license")
        photo = Photo(**{column: getattr(current, column) for column in columns})
        add_photo(photo, image, now=now)
        _update(current, state=PhotoImport.State.DONE, photo=photo, error="")


def _fail(row: PhotoImport, error: DownloadFailed, *, now: datetime) -> None:
    message = str(error)[:MAX_ERROR_LENGTH]
    if error.is_temporary and row.tries < MAX_TRIES:
        _update(row, error=message, next_try_at=now + RETRY_AFTER[row.tries - 1])
    else:
        _update(row, error=message, state=PhotoImport.State.FAILED)


def _update(row: PhotoImport, **values: object) -> None:
    PhotoImport.objects.filter(pk=row.pk, state=PhotoImport.State.PENDING).update(**values)
