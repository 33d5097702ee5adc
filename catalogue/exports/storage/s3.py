"""Files of exports in a bucket of an S3-compatible service.

Nothing imports this but Django, where EXPORTS_S3_BUCKET is set: boto3 takes 17 MB of each process.
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

# A service that is away is an error in seconds: the lease of a part is a minute, and who waits may be a caller.
PATIENCE = {"connect_timeout": 3, "read_timeout": 10, "retries": {"mode": "standard", "total_max_attempts": 2}}
# A file goes in one call, however large S3 lets it be: of what is sent in several, a killed worker leaves some behind.
ONE_PIECE = 5 * 2**30


class BrokenBucketError(OSError):
    """The service did not do what it was asked; `strerror` says why, without addresses and keys."""


@contextmanager
def as_files_fail() -> Iterator[None]:
    """Whatever boto3 raises becomes an OSError, which is what callers of a storage are prepared for."""
    try:
        yield
    except ClientError as error:
        code = error.response.get("Error", {}).get("Code", "?")
        raise BrokenBucketError(None, f"the bucket refused it ({code})") from error
    except (BotoCoreError, Boto3Error) as error:
        refused = error.__context__
        told = refused.response["Error"]["Code"] if isinstance(refused, ClientError) else type(error).__name__
        raise BrokenBucketError(None, f"the bucket could not be used ({told})") from error


class Bucket(S3Storage):  # type: ignore[misc]  # it has no types
    """The storage of django-storages with one connection for all threads, and errors that are those of files.

    Content types are told to the service when a link is made, not when a file is kept.
    """

    def __init__(self, **options: Any) -> None:
        # Only a service at home gets its own checksums: others may know none of the newer kinds, and the signature
        # covers the content anyway.
        checks = "when_required" if options.get("endpoint_url") else "when_supported"
        addressing = "path" if options.get("endpoint_url") else "virtual"
        super().__init__(
            client_config=Config(
                signature_version="s3v4",
                s3={"addressing_style": addressing},
                request_checksum_calculation=checks,
                response_checksum_validation=checks,
                **PATIENCE,
            ),
            transfer_config=TransferConfig(multipart_threshold=ONE_PIECE, use_threads=False),
            # Without it compressed files would be told to be of another content, and be unpacked on their way.
            object_parameters={"ContentType": "application/octet-stream"},
            **options,
        )
        self.opening = threading.Lock()
        self.opened: Any = None

    @property
    def connection(self) -> Any:
        """Clients of boto3 may be shared, and each takes tens of milliseconds and megabytes to make."""
        with self.opening:
            if self.opened is None:
                self.opened = self._create_session().resource(
                    "s3", region_name=self.region_name, endpoint_url=self.endpoint_url, config=self.client_config
                )
            return self.opened

    def _open(self, name: str, mode: str = "rb") -> File[bytes]:
        with as_files_fail():
            file = super()._open(name, mode)
            # At once: a file that is read later fails later.
            return ContentFile(file.obj.get()["Body"].read(), name=name)

    def _save(self, name: str, content: File[bytes]) -> str:
        with as_files_fail():
            return str(super()._save(name, content))

    def delete(self, name: str) -> None:
        with as_files_fail():
            super().delete(name)

    def exists(self, name: str) -> bool:
        with as_files_fail():
            return bool(super().exists(name))

    def listdir(self, name: str) -> tuple[list[str], list[str]]:
        with as_files_fail():
            folders, files = super().listdir(name)
        return folders, files

    def size(self, name: str) -> int:
        with as_files_fail():
            return int(super().size(name))

    def sizes(self, folder: str) -> dict[str, int]:
        """The files in a folder, and how many bytes each has: one call for a thousand. Raises OSError."""
        prefix = f"{self._normalize_name(folder)}/"
        with as_files_fail():
            found = self.bucket.objects.filter(Prefix=prefix)
            return {each.key.removeprefix(prefix): each.size for each in found}

    def url(self, name: str, **how: Any) -> str:
        with as_files_fail():
            return str(super().url(name, **how))
