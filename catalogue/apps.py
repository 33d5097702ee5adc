"""The catalogue app, and what it adds to the registries of the layers below."""

from django.apps import AppConfig
from django.core import checks


class CatalogueConfig(AppConfig):
    """Restaurant data."""

    name = "catalogue"

    def ready(self) -> None:
        """Register system checks, consistency checks and an eraser of guests."""
        from catalogue import consistency_checks
        from catalogue.insights.providers.checks import check_provider
        from catalogue.offers.booking import forget_contacts
        from framework import consistency
        from reservations.guests import erasure

        checks.register(check_provider)
        consistency.SOURCES.append(consistency_checks.checks)
        erasure.ERASERS.append(forget_contacts)
