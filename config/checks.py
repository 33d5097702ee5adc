"""What an installation that others can reach must not start with, and what it should not.

Errors stop every command that checks, so `migrate` and with it `up`; warnings are told by `check --deploy`. An
installation is public when PUBLIC_BASE_URL is https, or names a host as the domain name system has them.
"""

import ipaddress
from collections.abc import Iterator, Sequence
from typing import Any
from urllib.parse import urlsplit

from django.conf import settings
from django.core import checks
from django.core.checks import CheckMessage, Error, Tags, register
from django.http.request import validate_host

from config.dev_stack import PRICE_FEED

MAINNET = "eip155:8453"
SHORTEST_SECRET = 32
SHORTEST_TOKEN = 16
# Names that no one outside of a machine, a cluster or a house can look up.
INSIDE = (".localhost", ".local", ".internal", ".lan", ".home.arpa")
ENCRYPTED = ("require", "verify-ca", "verify-full")
CONSOLE = "django.core.mail.backends.console.EmailBackend"


def is_public() -> bool:
    """Whether others than those of this house are meant to reach us."""
    address = urlsplit(settings.PUBLIC_BASE_URL)
    host = address.hostname or ""
    return address.scheme == "https" or ("." in host and not is_inside(host))


def is_inside(host: str) -> bool:
    """Whether the name or address is of this machine, or of a network of its own."""
    try:
        address = ipaddress.ip_address(host)
    except ValueError:
        return "." not in host or host.endswith(INSIDE)
    return address.is_private or address.is_loopback


@register(Tags.security)
def refuse_unsafe_starts(*, app_configs: Any, **rest: Any) -> Sequence[CheckMessage]:
    """What nobody should start with."""
    return [*always(), *(exposed() if is_public() else ())]


def always() -> Iterator[CheckMessage]:
    """What is wrong wherever it runs."""
    if settings.PAYMENT_NETWORK == MAINNET and settings.TOKEN_PRICE_FEED == PRICE_FEED:
        yield Error(
            "PAYMENT_NETWORK is Base, and the chain is the development chain: its money is none, and payments on it"
            " would be taken for real ones.",
            hint="Set RPC_URL, FACILITATOR_URL and PAY_TO, or leave PAYMENT_NETWORK unset.",
            id="tablewire.E001",
        )


def exposed() -> Iterator[CheckMessage]:
    """What is wrong where strangers can reach us."""
    address = urlsplit(settings.PUBLIC_BASE_URL)
    if settings.DEBUG:
        yield Error("DEBUG shows settings and data to whoever causes an error.", hint="Unset it.", id="tablewire.E002")
    if len(settings.SECRET_KEY) < SHORTEST_SECRET or len(set(settings.SECRET_KEY)) < 10:
        yield Error(
            "SECRET_KEY can be guessed, and with it every session, cursor and guest's link be made.",
            hint='Make one: python -c "import secrets; print(secrets.token_urlsafe(48))"',
            id="tablewire.E003",
        )
    if address.scheme != "https":
        yield Error(
            "PUBLIC_BASE_URL is not https: keys, cookies and payments would travel in clear.",
            hint="Have a proxy speak TLS (deploy/haproxy.cfg), and name it by https.",
            id="tablewire.E004",
        )
    if "*" in settings.ALLOWED_HOSTS:
        yield Error(
            "ALLOWED_HOSTS takes any name: links in mail could lead to a stranger's.",
            hint="Name the hosts of PUBLIC_BASE_URL.",
            id="tablewire.E005",
        )
    elif not validate_host(address.hostname or "", settings.ALLOWED_HOSTS):
        yield Error(
            f"ALLOWED_HOSTS lacks {address.hostname}, which PUBLIC_BASE_URL names: every call would be refused.",
            id="tablewire.E006",
        )
    if not (settings.SESSION_COOKIE_SECURE and settings.CSRF_COOKIE_SECURE):
        yield Error(
            "SECURE_COOKIES is off: sessions would travel in clear on the first plain link.",
            hint="Unset it.",
            id="tablewire.E007",
        )
    if settings.METRICS_TOKEN and len(settings.METRICS_TOKEN) < SHORTEST_TOKEN:
        yield Error(
            f"METRICS_TOKEN can be guessed: it has less than {SHORTEST_TOKEN} characters.", id="tablewire.E008"
        )
    if settings.WEBHOOKS_TO_LOOPBACK:
        yield Error(
            "WEBHOOKS_TO_LOOPBACK lets customers have this machine call itself.", hint="Unset it.", id="tablewire.E009"
        )


@register(Tags.security, deploy=True)
def warn_of_what_is_left(*, app_configs: Any, **rest: Any) -> Sequence[CheckMessage]:
    """What a public installation may run with, and should not."""
    return list(left()) if is_public() else []


def left() -> Iterator[CheckMessage]:
    """What would be better otherwise."""
    if settings.TRUSTED_PROXIES == 0:
        yield checks.Warning(
            "TRUSTED_PROXIES is 0: behind a proxy all callers share one address, and one allowance.",
            hint="Set it to the number of proxies before us.",
            id="tablewire.W001",
        )
    if not settings.SECURE_PROXY_SSL_HEADER:
        yield checks.Warning(
            "TRUST_FORWARDED_PROTO is off: pages do not know that they are asked by https, and do not say HSTS.",
            hint="Set it to true where the proxy replaces X-Forwarded-Proto, as deploy/haproxy.cfg does.",
            id="tablewire.W002",
        )
    if settings.TOKEN_PRICE_FEED == PRICE_FEED:
        yield checks.Warning(
            "The development chain is paid on: whoever has read up.json has a demo wallet, and buys for nothing.",
            hint="Set RPC_URL, FACILITATOR_URL and PAY_TO.",
            id="tablewire.W003",
        )
    if settings.EMAIL_BACKEND == CONSOLE:
        yield checks.Warning(
            "EMAIL_URL is unset: mail, with its links, is printed in the worker's log.",
            hint="Name a mail server.",
            id="tablewire.W004",
        )
    database = settings.DATABASES["default"]
    hosts = str(database.get("HOST") or "").split(",")
    mode = database.get("OPTIONS", {}).get("sslmode")
    if not all(is_here(host) for host in hosts) and mode not in ENCRYPTED:
        yield checks.Warning(
            "DATABASE_URL is on another machine and does not ask for TLS.",
            hint="Add ?sslmode=verify-full&sslrootcert=...",
            id="tablewire.W005",
        )


def is_here(host: str) -> bool:
    """Whether the host of a database is this machine, or a socket on it."""
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return host in ("", "localhost") or host.startswith("/")
