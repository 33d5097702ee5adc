"""The payments app, and what it adds to the registries of the layers below."""

from django.apps import AppConfig


class PaymentsConfig(AppConfig):
    """Prices, wallets and payments."""

    name = "payments"

    def ready(self) -> None:
        """Register consistency checks, files of the data export and closure guards."""
        from accounts import data_export
        from accounts.lifecycle import closure
        from framework import consistency
        from payments import account_hooks, consistency_checks

        consistency.SOURCES.append(consistency_checks.build_checks)
        data_export.FILES.update(payments=account_hooks.payments_of)
        closure.GUARDS += [account_hooks.has_a_plan, account_hooks.is_owed_money]
