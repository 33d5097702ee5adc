"""System checks of the settings of a public installation; checks.toml has their messages.

Errors stop every command that runs checks, such as `migrate` and so `up`, and the processes that serve: web server,
worker and beat. Warnings are shown by `check --deploy`. An installation is public when PUBLIC_BASE_URL is https, or
when its host is a public domain name or address.
"""

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from django.conf import settings
from django.core import checks
from django.core.checks import CheckMessage, Tags, register
from django.http.request import validate_host

from config.public_address import is_public
from framework.data_files import read_toml
from framework.http_client import is_loopback
from payments.devchain.addresses import PRICE_FEED
from payments.x402.signing_keys import get_signing_key

MESSAGES: Mapping[str, Mapping[str, str]] = read_toml(Path(__file__).with_name("checks.toml"))
MAINNET = "eip155:8453"
MIN_SECRET_KEY_LENGTH = 32
MIN_TOKEN_LENGTH = 16
TLS_MODES = ("require", "verify-ca", "verify-full")
CONSOLE_EMAIL = "django.core.mail.backends.console.EmailBackend"


def exit_if_unsafe(**_: Any) -> None:
    """Exit with the errors of the settings. For processes that run no command of Django's."""
    if errors := refuse_unsafe_starts(app_configs=None):
        lines = [f"({error.id}) {error.msg}{f' {error.hint}' if error.hint else ''}" for error in errors]
        raise SystemExit("\n".join(["The settings are unsafe. Nothing was started.", *lines]))


@register(Tags.security)
def refuse_unsafe_starts(*, app_configs: Any, **rest: Any) -> list[CheckMessage]:
    """Errors of the settings; all but E001 and E011 are of a public installation."""
    address, keys = urlsplit(settings.PUBLIC_BASE_URL), [settings.SECRET_KEY, *settings.SECRET_KEY_FALLBACKS]
    host = address.hostname or ""
    problems = {
        "E001": settings.PAYMENT_NETWORK == MAINNET and settings.TOKEN_PRICE_FEED == PRICE_FEED,
        # With 0 a holding counts at once, as on the embedded chain.
        "E011": 0 < settings.TIER_UPGRADE_AGE_S < settings.TIER_CACHE_S,
    }
    if is_public():
        problems |= {
            "E002": settings.DEBUG,
            "E003": any(len(key) < MIN_SECRET_KEY_LENGTH or len(set(key)) < 10 for key in keys),
            "E004": address.scheme != "https",
            "E005": "*" in settings.ALLOWED_HOSTS,
            "E006": not validate_host(host, settings.ALLOWED_HOSTS),
            "E007": not (settings.SESSION_COOKIE_SECURE and settings.CSRF_COOKIE_SECURE),
            "E008": 0 < len(settings.METRICS_TOKEN) < MIN_TOKEN_LENGTH,
            "E009": settings.WEBHOOKS_TO_LOOPBACK,
            "E010": bool(settings.MAILBOX_DIR),
        }
    return build_messages(checks.Error, problems, host=host)


@register(Tags.security, deploy=True)
def warn_of_weak_settings(*, app_configs: Any, **rest: Any) -> list[CheckMessage]:
    """Warnings of the settings of a public installation."""
    if not is_public():
        return []
    database = settings.DATABASES["default"]
    # A host that begins with a slash is the folder of a socket.
    hosts = str(database.get("HOST") or "").split(",")
    is_remote = not all(not host or host.startswith("/") or is_loopback(host) for host in hosts)
    problems = {
        "W001": settings.TRUSTED_PROXIES == 0,
        "W002": not settings.SECURE_PROXY_SSL_HEADER,
        "W003": settings.TOKEN_PRICE_FEED == PRICE_FEED,
        "W004": settings.EMAIL_BACKEND == CONSOLE_EMAIL,
        "W005": is_remote and database.get("OPTIONS", {}).get("sslmode") not in TLS_MODES,
    }
    return build_messages(checks.Warning, problems)


@register(Tags.security, deploy=True)
def warn_of_receipt_keys(*, app_configs: Any, **rest: Any) -> list[CheckMessage]:
    """Warnings of the keys of receipts of a public installation that takes payments."""
    if not is_public() or not settings.PAY_TO:
        return []
    problems = {
        "W006": not settings.RECEIPT_KEYS,
        "W007": get_signing_key().address == settings.PAY_TO,
    }
    return build_messages(checks.Warning, problems)


def build_messages(
    kind: Callable[..., CheckMessage], problems: Mapping[str, bool], *, host: str = ""
) -> list[CheckMessage]:
    """Return the messages of the problems that are true, by the ids of checks.toml."""
    return [
        kind(
            MESSAGES[name]["message"].format(
                host=host,
                min_token_length=MIN_TOKEN_LENGTH,
                cache_s=settings.TIER_CACHE_S,
                age_s=settings.TIER_UPGRADE_AGE_S,
            ),
            hint=MESSAGES[name].get("hint"),
            id=f"tablewire.{name}",
        )
        for name, is_wrong in problems.items()
        if is_wrong
    ]
