"""The payments app, and its entries in the registries of lower layers."""

from django.apps import AppConfig


class PaymentsConfig(AppConfig):
    name = "payments"

    def ready(self) -> None:
        from accounts import data_export
        from accounts.lifecycle import closure
        from framework import consistency
        from payments import account_hooks, consistency_checks

        consistency.SOURCES.append(consistency_checks.build_checks)
        data_export.FILES.update(
            payments=account_hooks.export_payments,
            billing=account_hooks.export_billing,
            invoices=account_hooks.export_invoices,
        )
        closure.ENDERS.append(account_hooks.erase_refund_requests)
        closure.GUARDS += [account_hooks.has_plan, account_hooks.has_open_payment]
