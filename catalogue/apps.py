"""What Django does with the catalogue when it starts."""

from django.apps import AppConfig
from django.core import checks


class CatalogueConfig(AppConfig):
    """The catalogue; registers its system checks, and what it forgets of guests."""

    name = "catalogue"

    def ready(self) -> None:
        """Register what has to be right before the product starts, and join the erasure of guests."""
        from catalogue.insights.providers.checks import check
        from catalogue.offers.booking import forget_contacts
        from reservations.guests import erasure

        checks.register(check)
        erasure.also.append(forget_contacts)
