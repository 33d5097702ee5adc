"""The configured insight provider, and the local one that replaces it when it fails."""

from dataclasses import dataclass
from functools import cache

from django.conf import settings
from django.db.models import Q

from catalogue.insights.providers.base import Context, InsightDraft, InsightProvider, RemoteProvider
from catalogue.models import Insight

Provider = InsightProvider | RemoteProvider


class LocalProvider:
    """The extractive provider, imported on first use: processes that only serve insights never load its lexicons."""

    name = "extractive"
    # Increase it when the same reviews give another output.
    version = "3"

    def generate(self, context: Context) -> InsightDraft:
        """See Extractive.generate; the first call takes 0.2 s more."""
        from catalogue.insights.providers.extractive import Extractive

        return Extractive().generate(context)


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
