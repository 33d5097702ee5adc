"""The configured insight provider, the check of its settings, and the local one that replaces it when it fails."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from importlib.util import find_spec
from typing import Any
from urllib.parse import urlsplit

from django.conf import settings
from django.core.checks import CheckMessage, Error
from django.db.models import Q

from catalogue.insights.providers.base import Context, InsightDraft, InsightProvider, RemoteProvider
from catalogue.models import Insight

Provider = InsightProvider | RemoteProvider
LLM_PROVIDERS = ("anthropic", "openai")
# As in the columns of Insight and InsightCall.
MAX_MODEL_LENGTH = 80


class LocalProvider:
    """The extractive provider, imported on first use: processes that only serve insights never load its lexicons."""

    name = "extractive"
    # Increase it when the same reviews give another output.
    version = "7"

    def generate(self, context: Context) -> InsightDraft:
        """See extractive.generate; the first call takes 0.2 s more."""
        from catalogue.insights.providers import extractive

        return extractive.generate(context)


# Free, without network, and all its claims are counted.
FALLBACK: InsightProvider = LocalProvider()


@dataclass(frozen=True, slots=True)
class ProviderVersion:
    """Provider, version and model of an insight. `model` is empty for a local provider."""

    name: str
    version: str
    model: str = ""

    @classmethod
    def of(cls, provider: Provider) -> "ProviderVersion":
        return cls(provider.name, provider.version, provider.model if isinstance(provider, RemoteProvider) else "")

    @classmethod
    def of_insight(cls, insight: Insight) -> "ProviderVersion":
        """The version that wrote an insight."""
        return cls(insight.provider, insight.provider_version, insight.model)

    def as_condition(self, prefix: str = "") -> Q:
        """The condition that this version wrote the insight at `prefix` ("insight__", or "" for the row itself)."""
        values = {"provider": self.name, "provider_version": self.version, "model": self.model}
        return Q(**{f"{prefix}{name}": value for name, value in values.items()})


def get_provider() -> Provider:
    """The provider of INSIGHT_PROVIDER, one instance for each process."""
    return _create(settings.INSIGHT_PROVIDER)


@cache
def _create(name: str) -> Provider:
    # The SDKs are large; only workers and commands call a model.
    match name:
        case "anthropic":
            from catalogue.insights.providers.anthropic import Anthropic

            return Anthropic()
        case "openai":
            from catalogue.insights.providers.openai import OpenAI

            return OpenAI()
    return FALLBACK


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
