"""An httpx2 client for model providers that stops at a deadline, and after MAX_BYTES of an answer.

The timeouts of HTTP libraries are per read: a server that sends a byte a second never exceeds them. httpx2 is the
library of the providers' SDKs; webhooks do the same on httpcore, with their own address checks.
"""

import ssl
from collections.abc import Iterable
from functools import cache
from typing import Any

import httpcore2
import httpx2

from framework.resilience.deadline import Deadline

# An answer of 4,000 tokens has a twentieth of it.
MAX_BYTES = 1_000_000
# The deadline is checked between writes, so that a slow reader is left in time too.
WRITE_CHUNK = 16_384


def client(deadline: Deadline) -> httpx2.Client:
    """Return a client that works until the deadline. It uses no proxy and follows no redirect."""
    transport = BoundedTransport(deadline)
    return httpx2.Client(transport=transport, trust_env=False, follow_redirects=False, timeout=deadline.timeout_s())


class BoundedTransport(httpx2.BaseTransport):
    """HTTP/1.1 without compression: a small compressed answer can be a large one.

    Host names are resolved by the system, which knows no deadline.
    """

    def __init__(self, deadline: Deadline) -> None:
        self._pool = httpcore2.ConnectionPool(ssl_context=_trusted(), network_backend=BoundedNetwork(deadline))

    def handle_request(self, request: httpx2.Request) -> httpx2.Response:
        request.headers["Accept-Encoding"] = "identity"
        url = request.url
        try:
            answer = self._pool.handle_request(
                httpcore2.Request(
                    request.method,
                    httpcore2.URL(scheme=url.raw_scheme, host=url.raw_host, port=url.port, target=url.raw_path),
                    headers=request.headers.raw,
                    content=request.read(),
                    extensions=request.extensions,
                )
            )
            # Read here: what is wrong with the body is wrong in one place.
            body = answer.read()
        except (httpcore2.TimeoutException, TimeoutError) as error:
            raise httpx2.ReadTimeout(str(error), request=request) from error
        except httpcore2.ConnectError as error:
            raise httpx2.ConnectError(str(error), request=request) from error
        except (httpcore2.NetworkError, httpcore2.ProtocolError, httpcore2.UnsupportedProtocol, OSError) as error:
            raise httpx2.ReadError(str(error), request=request) from error
        finally:
            self._pool.close()
        headers = httpx2.Headers(answer.headers)
        if headers.get("Content-Encoding", "identity").lower() != "identity":
            raise httpx2.DecodingError("The answer is compressed, which was not asked for.", request=request)
        return httpx2.Response(answer.status, headers=headers, content=body, request=request)

    def close(self) -> None:
        self._pool.close()


class BoundedNetwork(httpcore2.NetworkBackend):
    """Opens sockets that stop at the deadline."""

    def __init__(self, deadline: Deadline) -> None:
        self._deadline = deadline
        self._backend = httpcore2.SyncBackend()

    def connect_tcp(
        self,
        host: str,
        port: int,
        timeout: float | None = None,
        local_address: str | None = None,
        socket_options: Iterable[Any] | None = None,
    ) -> httpcore2.NetworkStream:
        timeout_s = self._deadline.timeout_s()
        return BoundedStream(
            self._backend.connect_tcp(host, port, timeout_s, local_address, socket_options), self._deadline
        )


class BoundedStream(httpcore2.NetworkStream):
    """One such socket. It counts the bytes that it reads."""

    def __init__(self, stream: httpcore2.NetworkStream, deadline: Deadline) -> None:
        self._stream, self._deadline, self._bytes_read = stream, deadline, 0

    def read(self, max_bytes: int, timeout: float | None = None) -> bytes:
        content = self._stream.read(max_bytes, self._deadline.timeout_s())
        self._bytes_read += len(content)
        if self._bytes_read > MAX_BYTES:
            raise httpcore2.ReadError(f"The answer has more than {MAX_BYTES} bytes.")
        return content

    def write(self, buffer: bytes, timeout: float | None = None) -> None:
        for start in range(0, len(buffer), WRITE_CHUNK):
            self._stream.write(buffer[start : start + WRITE_CHUNK], self._deadline.timeout_s())

    def start_tls(
        self, ssl_context: ssl.SSLContext, server_hostname: str | None = None, timeout: float | None = None
    ) -> httpcore2.NetworkStream:
        stream = self._stream.start_tls(ssl_context, server_hostname, self._deadline.timeout_s())
        return BoundedStream(stream, self._deadline)

    def close(self) -> None:
        self._stream.close()

    def get_extra_info(self, info: str) -> Any:
        return self._stream.get_extra_info(info)


@cache
def _trusted() -> ssl.SSLContext:
    """The trusted certificate authorities. Reading them takes 20 ms."""
    return httpx2.create_ssl_context()
