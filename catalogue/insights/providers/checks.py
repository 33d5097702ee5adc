"""System checks of the settings of language model providers."""

from collections.abc import Sequence
from importlib.util import find_spec
from typing import Any
from urllib.parse import urlsplit

from django.conf import settings
from django.core.checks import CheckMessage, Error

LLM_PROVIDERS = ("anthropic", "openai")
# As in the columns of Insight and InsightCall.
MAX_MODEL_LENGTH = 80


def check_provider(app_configs: Any, **options: Any) -> Sequence[CheckMessage]:
    """The Django system check."""
    name = settings.INSIGHT_PROVIDER
    return [Error(error, id="insights.E001") for error in find_config_errors(name)] if name in LLM_PROVIDERS else []


def find_config_errors(name: str) -> list[str]:
    """What is wrong with the settings for this provider."""
    errors = []
    if find_spec(name) is None:
        errors.append(f'INSIGHT_PROVIDER={name} needs the extra "{name}": install it with "uv sync --extra {name}".')
    if not settings.INSIGHT_MODEL:
        errors.append(f"INSIGHT_PROVIDER={name} needs INSIGHT_MODEL, the name of the model.")
    if len(settings.INSIGHT_MODEL) > MAX_MODEL_LENGTH or not settings.INSIGHT_MODEL.isprintable():
        errors.append(f"INSIGHT_MODEL must be a name of at most {MAX_MODEL_LENGTH} characters.")
    if not settings.INSIGHT_BASE_URL and not settings.INSIGHT_API_KEY:
        errors.append(f"INSIGHT_PROVIDER={name} needs INSIGHT_API_KEY, or INSIGHT_BASE_URL of a server without keys.")
    if not (settings.INSIGHT_API_KEY.isascii() and settings.INSIGHT_API_KEY.isprintable()):
        errors.append("INSIGHT_API_KEY must hold printable ASCII characters only.")
    if settings.INSIGHT_BASE_URL and not is_http_url(settings.INSIGHT_BASE_URL):
        errors.append("INSIGHT_BASE_URL must be an address of https or http, without user and password.")
    if settings.INSIGHT_TIMEOUT_S <= 0:
        errors.append("INSIGHT_TIMEOUT_S must be more than 0.")
    return errors


def is_http_url(url: str) -> bool:
    """Whether the URL has a host and no credentials, so that it can be logged."""
    try:
        parts = urlsplit(url)
        return (
            parts.scheme in {"http", "https"} and bool(parts.hostname) and parts.port != 0 and "@" not in parts.netloc
        )
    except ValueError:
        return False
