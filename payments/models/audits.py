"""Audits: comparisons of the ledger with the chain."""

from django.contrib.postgres.fields import ArrayField
from django.db import models
from django.db.models import F, Q

from framework.public_ids import new_id


class Audit(models.Model):
    """One comparison of the transfers to our address with the ledger, over a span of blocks.

    The next audit begins after `last_block`. An audit counts only once it has ended (`ended_at`).
    """

    id = models.UUIDField(primary_key=True, default=new_id, editable=False)
    network = models.CharField(max_length=40, help_text="CAIP-2")
    pay_to = models.CharField(max_length=42)
    first_block = models.BigIntegerField()
    last_block = models.BigIntegerField()
    started_at = models.DateTimeField()
    ended_at = models.DateTimeField(null=True, blank=True)
    transfers = models.PositiveIntegerField(default=0, help_text="Transfers in these blocks")
    arrived_usdc = models.DecimalField("arrived, in USDC", max_digits=78, decimal_places=6, default=0)
    ledger_usdc = models.DecimalField("in the ledger, in USDC", max_digits=78, decimal_places=6, default=0)
    orphans = models.PositiveIntegerField(default=0, help_text="Unmatched transfers: refund due")
    differences = ArrayField(
        models.CharField(max_length=300),
        default=list,
        blank=True,
        help_text="Differences between ledger and chain",
    )

    class Meta:
        constraints = [
            models.CheckConstraint(name="audit_spans_blocks", condition=Q(last_block__gte=F("first_block"))),
            models.UniqueConstraint(
                fields=["network", "pay_to", "first_block"], name="a_block_is_audited_once_for_an_address"
            ),
        ]

    def __str__(self) -> str:
        return f"Blocks {self.first_block} to {self.last_block}"
