"""The revenue report, which stands in the back office beside the ledger that it is counted from."""

from payments.models.payments import Payment


class Revenue(Payment):
    """The ledger, as the report reads it: no table of its own."""

    class Meta:
        proxy = True
        verbose_name = "revenue"
        verbose_name_plural = "revenue"
        # Who may look at payments may look at what they come to.
        default_permissions = ()
