"""What Django does with the catalogue when it starts."""

from django.apps import AppConfig
from django.core import checks


class CatalogueConfig(AppConfig):
    """The catalogue; registers its system checks."""

    name = "catalogue"

    def ready(self) -> None:
        """Register what has to be right before the product starts."""
        from catalogue.insights.readiness import check

        checks.register(check)
