"""A bucket for exports: the server of moto, which speaks S3 over real HTTP, on a port of this process."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import boto3
from moto.server import ThreadedMotoServer
from pytest_django import Settings

BUCKET = "tablewire-tests"
KEY, SECRET = "AKIAOFTHETESTS", "a+secret/of=the-tests"


class Service:
    """The service with one bucket, and what somebody sees who looks at it from outside."""

    def __init__(self) -> None:
        self.server = ThreadedMotoServer(ip_address="127.0.0.1", port=0, verbose=False)
        self.server.start()
        host, port = self.server.get_host_and_port()
        self.endpoint = f"http://{host}:{port}"
        self.client: Any = boto3.client(
            "s3",
            endpoint_url=self.endpoint,
            region_name="us-east-1",
            aws_access_key_id=KEY,
            aws_secret_access_key=SECRET,
        )
        self.client.create_bucket(Bucket=BUCKET)

    def keys(self) -> list[str]:
        """All that is in the bucket."""
        return sorted(entry["Key"] for entry in self.client.list_objects_v2(Bucket=BUCKET).get("Contents", ()))

    def empty(self) -> None:
        """Remove it all."""
        for key in self.keys():
            self.client.delete_object(Bucket=BUCKET, Key=key)


@contextmanager
def serving() -> Iterator[Service]:
    """The service, as long as it is wanted."""
    service = Service()
    try:
        yield service
    finally:
        service.client.close()
        service.server.stop()


def keep_in(settings: Settings, endpoint: str, **changed: Any) -> None:
    """Keep the files of exports in the bucket of a service."""
    options = {
        "bucket_name": BUCKET,
        "location": "exports/of us",
        "region_name": "us-east-1",
        "endpoint_url": endpoint,
        "access_key": KEY,
        "secret_key": SECRET,
        **changed,
    }
    exports = {"BACKEND": "catalogue.exports.storage.s3.Bucket", "OPTIONS": options}
    settings.STORAGES = {**settings.STORAGES, "exports": exports}


def environment(endpoint: str) -> dict[str, str]:
    """The same for another process."""
    return {
        "EXPORTS_S3_BUCKET": BUCKET,
        "EXPORTS_S3_PREFIX": "exports/of us",
        "EXPORTS_S3_ENDPOINT_URL": endpoint,
        "EXPORTS_S3_ACCESS_KEY_ID": KEY,
        "EXPORTS_S3_SECRET_ACCESS_KEY": SECRET,
    }
