"""Web push: encrypts a message (RFC 8291), signs it (VAPID, RFC 8292) and sends it to a push service (RFC 8030).

The addresses of push services come from browsers, so they pass the guard of webhooks,
and have a limit of the same size for each IP address.
"""

import json
from collections.abc import Mapping
from datetime import datetime, timedelta
from email.utils import parseaddr
from functools import lru_cache
from typing import Any

import http_ece
import httpcore
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.hazmat.primitives.serialization import Encoding, PublicFormat
from django.conf import settings
from py_vapid import Vapid02

from accounts.models import PushDevice
from accounts.webhooks import address_limit, http_client, ssrf_guard
from framework.encryption import derive_key
from framework.errors import InvalidRequest

TIMEOUT_S = 5.0
MAX_ENDPOINT_LENGTH = 1000
# The push service forgets a message that it could not hand over for so long.
TTL = timedelta(hours=4)
TOKEN_LIFETIME = timedelta(hours=12)
PUBLIC_KEY_BYTES, AUTH_SECRET_BYTES = 65, 16


class InvalidPushDevice(InvalidRequest):
    """The browser's subscription is malformed, or its push service is not on the public internet."""


def parse_endpoint(endpoint: str) -> httpcore.URL:
    """Parse the address of a push service, without the network. Raises InvalidWebhookUrl, InvalidPushDevice."""
    url = ssrf_guard.parse_url(endpoint, max_length=MAX_ENDPOINT_LENGTH)
    if (url.scheme != b"https" and not settings.WEBHOOKS_TO_LOOPBACK) or b":" in url.host:
        message = "The address of a push service starts with https:// and a name."
        raise InvalidPushDevice(message, param="endpoint")
    return url


def check_keys(public_key: bytes, auth_secret: bytes) -> None:
    """Raise InvalidPushDevice unless these are a point of P-256 and a secret of 16 bytes."""
    try:
        ec.EllipticCurvePublicKey.from_encoded_point(ec.SECP256R1(), public_key)
    except ValueError as error:
        raise InvalidPushDevice("This is not a public key of P-256.", param="p256dh") from error
    if len(public_key) != PUBLIC_KEY_BYTES:
        raise InvalidPushDevice("The public key is uncompressed, of 65 bytes.", param="p256dh")
    if len(auth_secret) != AUTH_SECRET_BYTES:
        raise InvalidPushDevice("The secret has 16 bytes.", param="auth")


def _private_key() -> ec.EllipticCurvePrivateKey:
    return settings.VAPID_PRIVATE_KEY or _derive_private_key(settings.SECRET_KEY)


@lru_cache(maxsize=4)
def _derive_private_key(secret_key: str) -> ec.EllipticCurvePrivateKey:
    """Derive the key of an installation that has set none: 48 bytes, so that the remainder has no bias."""
    order = ec.SECP256R1().group_order
    number = int.from_bytes(derive_key(secret_key, purpose="web push", length=48)) % (order - 1) + 1
    return ec.derive_private_key(number, ec.SECP256R1())


def public_key() -> bytes:
    """Return the `applicationServerKey` with which browsers subscribe."""
    key = _private_key().public_key()
    return key.public_bytes(Encoding.X962, PublicFormat.UncompressedPoint)


def build_headers(url: httpcore.URL, *, now: datetime) -> dict[str, str]:
    """Return the headers of a message, with the signature that push services ask for."""
    port = "" if url.port in (None, *ssrf_guard.PORTS.values()) else f":{url.port}"
    claims = {
        "aud": f"{url.scheme.decode()}://{url.host.decode()}{port}",
        "exp": int((now + TOKEN_LIFETIME).timestamp()),
        "sub": f"mailto:{parseaddr(settings.DEFAULT_FROM_EMAIL)[1]}",
    }
    signature: dict[str, str] = Vapid02(_private_key()).sign(claims)
    return {
        "content-encoding": "aes128gcm",
        "content-type": "application/octet-stream",
        "ttl": str(int(TTL.total_seconds())),
        "urgency": "high",
        **signature,
    }


def encrypt(message: Mapping[str, Any], device: PushDevice) -> bytes:
    """Encrypt a message of at most 3.9 kB to the keys of the browser."""
    content: bytes = http_ece.encrypt(
        json.dumps(message, ensure_ascii=False).encode(),
        private_key=ec.generate_private_key(ec.SECP256R1()),
        dh=bytes(device.public_key),
        auth_secret=bytes(device.auth_secret),
        version="aes128gcm",
    )
    return content


def send(
    device: PushDevice,
    message: Mapping[str, Any],
    *,
    now: datetime,
    timeout_s: float = TIMEOUT_S,
    resolver: ssrf_guard.Resolver = ssrf_guard.resolve,
) -> http_client.Outcome:
    """Send the message once, within the timeout. Errors of the receiver or the network become an outcome.

    Does not use the database.
    """
    try:
        url = parse_endpoint(device.endpoint)
        return http_client.post(
            url,
            build_headers(url, now=now),
            encrypt(message, device),
            now=now,
            timeout_s=timeout_s,
            resolver=resolver,
            ssl_context=http_client.get_ssl_context(),
            policy="web push",
        )
    except address_limit.AddressBusy as busy:
        return http_client.Outcome(postponed_for=busy.wait)
    except Exception as error:
        reason = http_client.describe_error(error, timeout_s=timeout_s)
        if reason is None:
            raise
        return http_client.Outcome(error=reason)


def is_gone(device: PushDevice, outcome: http_client.Outcome) -> bool:
    """Whether the browser does not show notifications any more: it is gone, or has subscribed with another key."""
    has_other_key = bytes(device.server_key) != public_key()
    return outcome.status in (404, 410) or (outcome.status in (401, 403) and has_other_key)
