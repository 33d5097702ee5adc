"""The revenue report in the back office, which is computed from the ledger."""

from payments.models.payments import Payment


class Revenue(Payment):
    """A proxy of Payment, so that the report has its own entry in the back office."""

    class Meta:
        proxy = True
        verbose_name = "revenue"
        verbose_name_plural = "revenue"
        # The permission to view payments includes the report.
        default_permissions = ()
