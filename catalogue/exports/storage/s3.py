"""Export files in an S3-compatible bucket.

Only Django imports this module, if EXPORTS_S3_BUCKET is set: boto3 takes 17 MB per process.
"""

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from boto3.exceptions import Boto3Error
from boto3.s3.transfer import TransferConfig
from botocore.config import Config
from botocore.exceptions import BotoCoreError, ClientError
from django.core.files.base import ContentFile, File
from storages.backends.s3 import S3Storage

# An unavailable service has to fail within seconds: the lease of a part is a minute, and an API caller may wait.
TIMEOUTS = {"connect_timeout": 3, "read_timeout": 10, "retries": {"mode": "standard", "total_max_attempts": 2}}
# A file is uploaded in one call of at most 5 GiB: an interrupted multipart upload would leave parts behind.
MAX_UPLOAD_BYTES = 5 * 2**30


class BucketError(OSError):
    """A call of the bucket failed; `strerror` says why, without addresses and keys."""


@contextmanager
def convert_errors() -> Iterator[None]:
    """Convert the exceptions of boto3 to OSError, which callers of a storage handle."""
    try:
        yield
    except ClientError as error:
        code = error.response.get("Error", {}).get("Code", "?")
        raise BucketError(None, f"the bucket refused it ({code})") from error
    except (BotoCoreError, Boto3Error) as error:
        refused = error.__context__
        reason = refused.response["Error"]["Code"] if isinstance(refused, ClientError) else type(error).__name__
        raise BucketError(None, f"the bucket could not be used ({reason})") from error


class Bucket(S3Storage):  # type: ignore[misc]  # it has no types
    """The storage of django-storages with one connection for all threads, and errors as of local files.

    Content types are set in presigned URLs, not when a file is stored.
    """

    def __init__(self, **options: Any) -> None:
        # Only AWS gets the newer checksums: other services may not support them, and the signature covers the content.
        checks = "when_required" if options.get("endpoint_url") else "when_supported"
        addressing = "path" if options.get("endpoint_url") else "virtual"
        super().__init__(
            client_config=Config(
                signature_version="s3v4",
                s3={"addressing_style": addressing},
                request_checksum_calculation=checks,
                response_checksum_validation=checks,
                **TIMEOUTS,
            ),
            transfer_config=TransferConfig(multipart_threshold=MAX_UPLOAD_BYTES, use_threads=False),
            # Otherwise compressed files would get a Content-Encoding, and be decompressed in transit.
            object_parameters={"ContentType": "application/octet-stream"},
            **options,
        )
        self.lock = threading.Lock()
        self._resource: Any = None

    @property
    def connection(self) -> Any:
        """boto3 clients are thread-safe; each takes tens of milliseconds and megabytes to create."""
        with self.lock:
            if self._resource is None:
                self._resource = self._create_session().resource(
                    "s3", region_name=self.region_name, endpoint_url=self.endpoint_url, config=self.client_config
                )
            return self._resource

    def _open(self, name: str, mode: str = "rb") -> File[bytes]:
        with convert_errors():
            file = super()._open(name, mode)
            # Read at once, so that an error is raised here.
            return ContentFile(file.obj.get()["Body"].read(), name=name)

    def list_sizes(self, folder: str) -> dict[str, int]:
        """Return the sizes of the files in a folder, with one call per thousand. Raises OSError."""
        prefix = f"{self._normalize_name(folder)}/"
        with convert_errors():
            objects = self.bucket.objects.filter(Prefix=prefix)
            return {item.key.removeprefix(prefix): item.size for item in objects}


for _name in ("_save", "delete", "exists", "listdir", "size", "url"):
    setattr(Bucket, _name, convert_errors()(getattr(S3Storage, _name)))
