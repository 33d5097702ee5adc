"""An HTTP client that gives up: after so many seconds and so many bytes, however the other side spends them."""

import ssl
import time
from collections.abc import Iterable, Iterator
from functools import cache
from typing import Any

import httpcore2
import httpx2

# An answer of 4,000 tokens has a twentieth of it.
MOST_BYTES = 1_000_000
# Written at once, so that who reads slowly is left in time too.
CHUNK = 16_384


class Patient(httpx2.BaseTransport):
    """HTTP/1.1 over sockets that stop at a moment of time.monotonic(), or after MOST_BYTES have come.

    The time-outs of HTTP libraries are for each read, so who sends a byte a second holds them for ever; a small
    compressed answer can be a large one. No proxies, no redirects. The names of hosts are looked up by the system, in
    its own time.
    """

    def __init__(self, *, until: float) -> None:
        self._pool = httpcore2.ConnectionPool(ssl_context=_trusted(), network_backend=Network(until=until))

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


class Network(httpcore2.NetworkBackend):
    """Sockets that stop at a moment."""

    def __init__(self, *, until: float) -> None:
        self._until = until
        self._sockets = httpcore2.SyncBackend()

    def connect_tcp(
        self,
        host: str,
        port: int,
        timeout: float | None = None,
        local_address: str | None = None,
        socket_options: Iterable[Any] | None = None,
    ) -> httpcore2.NetworkStream:
        left = _left(self._until)
        made = self._sockets.connect_tcp(host, port, left, local_address, socket_options)
        return Stream(made, until=self._until)


class Stream(httpcore2.NetworkStream):
    """One such socket, which counts what comes."""

    def __init__(self, stream: httpcore2.NetworkStream, *, until: float) -> None:
        self._stream, self._until, self._come = stream, until, 0

    def read(self, max_bytes: int, timeout: float | None = None) -> bytes:
        read = self._stream.read(max_bytes, _left(self._until))
        self._come += len(read)
        if self._come > MOST_BYTES:
            raise httpcore2.ReadError(f"The answer has more than {MOST_BYTES} bytes.")
        return read

    def write(self, buffer: bytes, timeout: float | None = None) -> None:
        for chunk in _chunks(buffer):
            self._stream.write(chunk, _left(self._until))

    def start_tls(
        self, ssl_context: ssl.SSLContext, server_hostname: str | None = None, timeout: float | None = None
    ) -> httpcore2.NetworkStream:
        made = self._stream.start_tls(ssl_context, server_hostname, _left(self._until))
        return Stream(made, until=self._until)

    def close(self) -> None:
        self._stream.close()

    def get_extra_info(self, info: str) -> Any:
        return self._stream.get_extra_info(info)


def client(*, until: float) -> httpx2.Client:
    """One for the time until this moment of time.monotonic(); it follows no redirects."""
    return httpx2.Client(transport=Patient(until=until), trust_env=False, follow_redirects=False, timeout=_left(until))


def _left(until: float) -> float:
    """Seconds until then; raises TimeoutError when there are none."""
    left = until - time.monotonic()
    if left <= 0:
        raise TimeoutError("The time is over.")
    return left


def _chunks(buffer: bytes) -> Iterator[bytes]:
    return (buffer[start : start + CHUNK] for start in range(0, len(buffer), CHUNK))


@cache
def _trusted() -> ssl.SSLContext:
    """The authorities that are trusted, read once: that takes 20 ms."""
    return httpx2.create_ssl_context()
