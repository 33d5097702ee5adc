"""Whether the settings have what a model needs, before anybody asks one."""

from collections.abc import Sequence
from importlib.util import find_spec
from typing import Any
from urllib.parse import urlsplit

from django.conf import settings
from django.core.checks import CheckMessage, Error

MODELS = ("anthropic", "openai")
# As long as the columns of Insight and InsightCall.
LONGEST_MODEL = 80


def check(app_configs: Any, **options: Any) -> Sequence[CheckMessage]:
    """A system check of Django: what is missing is told when the product starts."""
    name = settings.INSIGHT_PROVIDER
    return [Error(wrong, id="insights.E001") for wrong in faults(name)] if name in MODELS else []


def faults(name: str) -> list[str]:
    """What the settings lack for this provider, in words for who runs the product."""
    wrong = []
    if find_spec(name) is None:
        wrong.append(f'INSIGHT_PROVIDER={name} needs the extra "{name}": install it with "uv sync --extra {name}".')
    if not settings.INSIGHT_MODEL:
        wrong.append(f"INSIGHT_PROVIDER={name} needs INSIGHT_MODEL, the model that is asked.")
    if len(settings.INSIGHT_MODEL) > LONGEST_MODEL or not settings.INSIGHT_MODEL.isprintable():
        wrong.append(f"INSIGHT_MODEL must be a name of at most {LONGEST_MODEL} characters.")
    if not settings.INSIGHT_BASE_URL and not settings.INSIGHT_API_KEY:
        wrong.append(f"INSIGHT_PROVIDER={name} needs INSIGHT_API_KEY, or INSIGHT_BASE_URL of a server without keys.")
    if not (settings.INSIGHT_API_KEY.isascii() and settings.INSIGHT_API_KEY.isprintable()):
        wrong.append("INSIGHT_API_KEY has characters that no key has.")
    if settings.INSIGHT_BASE_URL and not is_address(settings.INSIGHT_BASE_URL):
        wrong.append("INSIGHT_BASE_URL must be an address of https or http, without user and password.")
    if settings.INSIGHT_TIMEOUT_S <= 0:
        wrong.append("INSIGHT_TIMEOUT_S must be more than 0.")
    return wrong


def is_address(url: str) -> bool:
    """Whether it is one of HTTP, with a host, and can be written to a log."""
    try:
        parts = urlsplit(url)
        return (
            parts.scheme in {"http", "https"} and bool(parts.hostname) and parts.port != 0 and "@" not in parts.netloc
        )
    except ValueError:
        return False
