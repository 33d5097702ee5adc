"""System checks of the settings of a public installation.

Errors stop every command that runs checks, such as `migrate` and so `up`; warnings are shown by `check --deploy`. An
installation is public when PUBLIC_BASE_URL is https, or when its host is a public domain name or address.
"""

import ipaddress
from collections.abc import Iterator, Sequence
from typing import Any
from urllib.parse import urlsplit

from django.conf import settings
from django.core import checks
from django.core.checks import CheckMessage, Error, Tags, register
from django.http.request import validate_host

from payments.devchain.addresses import PRICE_FEED

MAINNET = "eip155:8453"
MIN_SECRET_KEY_LENGTH = 32
MIN_TOKEN_LENGTH = 16
# Suffixes of host names that public DNS does not have.
PRIVATE_SUFFIXES = (".localhost", ".local", ".internal", ".lan", ".home.arpa")
TLS_MODES = ("require", "verify-ca", "verify-full")
CONSOLE_EMAIL = "django.core.mail.backends.console.EmailBackend"


def is_public() -> bool:
    """Whether PUBLIC_BASE_URL is a public URL."""
    address = urlsplit(settings.PUBLIC_BASE_URL)
    host = address.hostname or ""
    return address.scheme == "https" or ("." in host and not is_private(host))


def is_private(host: str) -> bool:
    """Whether the host name or address is of this machine or of a private network."""
    try:
        address = ipaddress.ip_address(host)
    except ValueError:
        return "." not in host or host.endswith(PRIVATE_SUFFIXES)
    return address.is_private or address.is_loopback


@register(Tags.security)
def refuse_unsafe_starts(*, app_configs: Any, **rest: Any) -> Sequence[CheckMessage]:
    """Errors of the settings."""
    return [*chain_errors(), *(public_errors() if is_public() else ())]


def chain_errors() -> Iterator[CheckMessage]:
    """Errors of any installation."""
    if settings.PAYMENT_NETWORK == MAINNET and settings.TOKEN_PRICE_FEED == PRICE_FEED:
        yield Error(
            "PAYMENT_NETWORK is Base, and the chain is the development chain: payments on it have no value, and would"
            " be recorded as real ones.",
            hint="Set RPC_URL, FACILITATOR_URL and PAY_TO, or leave PAYMENT_NETWORK unset.",
            id="tablewire.E001",
        )


def public_errors() -> Iterator[CheckMessage]:
    """Errors of a public installation."""
    address = urlsplit(settings.PUBLIC_BASE_URL)
    if settings.DEBUG:
        yield Error(
            "DEBUG shows settings and data to any client that causes an error.", hint="Unset it.", id="tablewire.E002"
        )
    if len(settings.SECRET_KEY) < MIN_SECRET_KEY_LENGTH or len(set(settings.SECRET_KEY)) < 10:
        yield Error(
            "SECRET_KEY can be guessed, and with it sessions, cursors and guests' links be forged.",
            hint='Generate one: python -c "import secrets; print(secrets.token_urlsafe(48))"',
            id="tablewire.E003",
        )
    if address.scheme != "https":
        yield Error(
            "PUBLIC_BASE_URL is not https: keys, cookies and payments would be sent in plain text.",
            hint="Put a proxy with TLS in front (deploy/haproxy.cfg), and use its https URL.",
            id="tablewire.E004",
        )
    if "*" in settings.ALLOWED_HOSTS:
        yield Error(
            "ALLOWED_HOSTS accepts any name: links in mail could point to another host.",
            hint="List the hosts of PUBLIC_BASE_URL.",
            id="tablewire.E005",
        )
    elif not validate_host(address.hostname or "", settings.ALLOWED_HOSTS):
        yield Error(
            f"ALLOWED_HOSTS lacks {address.hostname}, the host of PUBLIC_BASE_URL: every request would be refused.",
            id="tablewire.E006",
        )
    if not (settings.SESSION_COOKIE_SECURE and settings.CSRF_COOKIE_SECURE):
        yield Error(
            "SECURE_COOKIES is off: a link with http would send the session in plain text.",
            hint="Unset it.",
            id="tablewire.E007",
        )
    if settings.METRICS_TOKEN and len(settings.METRICS_TOKEN) < MIN_TOKEN_LENGTH:
        yield Error(
            f"METRICS_TOKEN can be guessed: it has fewer than {MIN_TOKEN_LENGTH} characters.", id="tablewire.E008"
        )
    if settings.WEBHOOKS_TO_LOOPBACK:
        yield Error(
            "WEBHOOKS_TO_LOOPBACK lets customers send requests to this machine.", hint="Unset it.", id="tablewire.E009"
        )


@register(Tags.security, deploy=True)
def warn_of_weak_settings(*, app_configs: Any, **rest: Any) -> Sequence[CheckMessage]:
    """Warnings of the settings."""
    return list(public_warnings()) if is_public() else []


def public_warnings() -> Iterator[CheckMessage]:
    """Warnings of a public installation."""
    if settings.TRUSTED_PROXIES == 0:
        yield checks.Warning(
            "TRUSTED_PROXIES is 0: behind a proxy all callers share one address, and one rate limit.",
            hint="Set it to the number of proxies in front.",
            id="tablewire.W001",
        )
    if not settings.SECURE_PROXY_SSL_HEADER:
        yield checks.Warning(
            "TRUST_FORWARDED_PROTO is off: behind a proxy, requests do not count as https, and HSTS is not sent.",
            hint="Set it to true where the proxy replaces X-Forwarded-Proto, as deploy/haproxy.cfg does.",
            id="tablewire.W002",
        )
    if settings.TOKEN_PRICE_FEED == PRICE_FEED:
        yield checks.Warning(
            "Payments are on the development chain: anybody with a wallet of up.json can pay with worthless money.",
            hint="Set RPC_URL, FACILITATOR_URL and PAY_TO.",
            id="tablewire.W003",
        )
    if settings.EMAIL_BACKEND == CONSOLE_EMAIL:
        yield checks.Warning(
            "EMAIL_URL is unset: mail, with its links, is printed in the worker's log.",
            hint="Set it to a mail server.",
            id="tablewire.W004",
        )
    database = settings.DATABASES["default"]
    hosts = str(database.get("HOST") or "").split(",")
    mode = database.get("OPTIONS", {}).get("sslmode")
    if not all(is_local(host) for host in hosts) and mode not in TLS_MODES:
        yield checks.Warning(
            "DATABASE_URL is on another machine and does not require TLS.",
            hint="Add ?sslmode=verify-full&sslrootcert=...",
            id="tablewire.W005",
        )


def is_local(host: str) -> bool:
    """Whether the host of a database is this machine, or a socket on it."""
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return host in ("", "localhost") or host.startswith("/")
