"""The orders app, and what it adds to the registries of the layers below."""

from django.apps import AppConfig


class OrdersConfig(AppConfig):
    """Orders and menus."""

    name = "orders"

    def ready(self) -> None:
        """Register consistency checks, files of the data export and onboarding steps."""
        from accounts import data_export, onboarding
        from framework import consistency
        from orders import consistency_checks
        from orders.dashboard import onboarding_step
        from orders.data_export import menus_of, orders_of

        consistency.SOURCES.append(consistency_checks.checks)
        data_export.FILES.update(orders=orders_of, menus=menus_of)
        onboarding.STEPS.append(onboarding_step.menu)
