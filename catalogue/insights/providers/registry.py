"""Who writes insights: the provider that the settings name, and the one that does where that gives nothing."""

from dataclasses import dataclass
from functools import cache

from django.conf import settings
from django.db.models import Q

from catalogue.insights.providers.base import Context, InsightDraft, InsightProvider, RemoteProvider
from catalogue.models import Insight

Provider = InsightProvider | RemoteProvider


class OwnProgram:
    """Extractive. Its words and rules are loaded when it writes first: who only serves insights needs none of them."""

    name = "extractive"
    # Raised by hand where it writes something else from the same reviews.
    version = "3"

    def generate(self, context: Context) -> InsightDraft:
        """What it counts; 0.2 s more the first time."""
        from catalogue.insights.providers.extractive import Extractive

        return Extractive().generate(context)


# Costs nothing, needs no network, and claims only what it has counted.
FALLBACK: InsightProvider = OwnProgram()


@dataclass(frozen=True, slots=True)
class Author:
    """Who wrote an insight, or is to: another one would write it differently. `model` is empty for a local one."""

    name: str
    version: str
    model: str = ""

    @classmethod
    def of(cls, provider: Provider) -> "Author":
        """The one that writes by this provider."""
        return cls(provider.name, provider.version, provider.model if isinstance(provider, RemoteProvider) else "")

    @classmethod
    def behind(cls, insight: Insight) -> "Author":
        """The one that wrote this insight."""
        return cls(insight.provider, insight.provider_version, insight.model)

    def wrote(self, insight: str = "") -> Q:
        """The condition that it wrote the insight to which `insight` leads ("insight__", or "" for itself)."""
        told = {"provider": self.name, "provider_version": self.version, "model": self.model}
        return Q(**{f"{insight}{name}": value for name, value in told.items()})


def chosen() -> Provider:
    """The provider that the settings name; made once in a process."""
    return _made(settings.INSIGHT_PROVIDER)


@cache
def _made(name: str) -> Provider:
    # Their libraries are large, and only workers and commands ask a model.
    match name:
        case "anthropic":
            from catalogue.insights.providers.anthropic import Anthropic

            return Anthropic()
        case "openai":
            from catalogue.insights.providers.openai import OpenAI

            return OpenAI()
    return FALLBACK
