"""The catalogue app, and what it adds to the registries of the layers below."""

from django.apps import AppConfig
from django.core import checks


class CatalogueConfig(AppConfig):
    """Restaurant data."""

    name = "catalogue"

    def ready(self) -> None:
        from catalogue import consistency_checks
        from catalogue.insights.providers.checks import check
        from catalogue.offers.booking import forget_contacts
        from framework import consistency
        from reservations.guests import erasure

        checks.register(check)
        consistency.SOURCES.append(consistency_checks.checks)
        erasure.ERASERS.append(forget_contacts)
