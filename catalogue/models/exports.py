"""Bulk exports and their parts."""

from typing import Self

from django.contrib.postgres.fields import ArrayField
from django.db import models
from django.db.models import Q

from config.api.ids import decode, encode, new_id
from payments.models import Wallet, shortened

PREFIX = "ex"
UNFINISHED = ("queued", "running")


class Exports(models.QuerySet["Export"]):
    """Exports, narrowed and ordered."""

    def of(self, wallet: str) -> Self:
        """Those that a wallet asked for; its address is in small letters."""
        return self.filter(wallet=wallet)

    def known_as(self, public_id: str) -> Self:
        """Keep the export of this public id; none for an id that is malformed."""
        key = decode(PREFIX, public_id)
        return self.filter(pk=key) if key else self.none()

    def unfinished(self) -> Self:
        """Those that workers still have to do with."""
        return self.filter(status__in=UNFINISHED)


class Export(models.Model):
    """Files with all restaurants that a filter leaves, made by workers part by part."""

    class Dataset(models.TextChoices):
        RESTAURANTS = "restaurants"

    class Format(models.TextChoices):
        JSONL_GZ = "jsonl.gz", "jsonl.gz"

    class Status(models.TextChoices):
        QUEUED = "queued"
        RUNNING = "running"
        SUCCEEDED = "succeeded"
        FAILED = "failed"
        CANCELLED = "cancelled"
        EXPIRED = "expired"

    id = models.UUIDField(primary_key=True, default=new_id, editable=False)
    wallet = models.ForeignKey(Wallet, on_delete=models.PROTECT, related_name="exports")
    dataset = models.CharField(max_length=20, choices=Dataset)
    format = models.CharField(max_length=20, choices=Format)
    filter = models.JSONField(default=dict, blank=True)
    fingerprint = models.CharField(max_length=64, help_text="SHA-256 of dataset, format and filter")
    queue = models.CharField(max_length=20, help_text="Of the tier that asked for it")
    status = models.CharField(max_length=20, choices=Status, default=Status.QUEUED)
    rows_total = models.BigIntegerField(null=True, blank=True, help_text="Rows when it began, for the progress")
    rows = models.BigIntegerField(null=True, blank=True, help_text="Rows in the files; known at the end")
    manifest_sha256 = models.CharField(max_length=64, blank=True)
    error = models.CharField(max_length=500, blank=True)
    created_at = models.DateTimeField()
    snapshot_at = models.DateTimeField(null=True, blank=True, help_text="The moment of which the files speak")
    finished_at = models.DateTimeField(null=True, blank=True)
    expires_at = models.DateTimeField(null=True, blank=True)

    objects = Exports.as_manager()

    class Meta:
        constraints = [
            models.UniqueConstraint(
                fields=["wallet", "fingerprint"],
                condition=Q(status__in=UNFINISHED),
                name="one_unfinished_export_of_a_kind_and_wallet",
            ),
            models.CheckConstraint(
                name="export_status_is_known",
                condition=Q(status__in=["queued", "running", "succeeded", "failed", "cancelled", "expired"]),
            ),
            models.CheckConstraint(name="a_failed_export_says_why", condition=~Q(status="failed") | ~Q(error="")),
            models.CheckConstraint(
                name="a_finished_export_is_counted",
                condition=~Q(status="succeeded") | Q(rows__isnull=False, expires_at__isnull=False),
            ),
        ]
        indexes = [models.Index(fields=["wallet", "-created_at"], name="export_newest_of_wallet")]

    def __str__(self) -> str:
        return f"{self.dataset} for {shortened(self.wallet_id)}"

    @property
    def public_id(self) -> str:
        """`ex_` and 26 letters."""
        return encode(PREFIX, self.pk)


class ExportPart(models.Model):
    """A range of keys that one task writes to one file.

    A worker holds it by a lease; `tries` is the fencing token: who lost the lease finds another number there.
    """

    class State(models.TextChoices):
        WAITING = "waiting"
        TAKEN = "taken"
        DONE = "done"

    export = models.ForeignKey(Export, on_delete=models.CASCADE, related_name="parts")
    seq = models.PositiveIntegerField()
    lo = models.UUIDField(null=True, blank=True, help_text="After this key; null: from the first")
    hi = models.UUIDField(null=True, blank=True, help_text="Up to this key; null: to the last")
    state = models.CharField(max_length=20, choices=State, default=State.WAITING)
    lease_until = models.DateTimeField(null=True, blank=True)
    tries = models.PositiveIntegerField(default=0)
    rows = models.PositiveIntegerField(null=True, blank=True)
    bytes = models.BigIntegerField(null=True, blank=True)
    sha256 = models.CharField(max_length=64, blank=True)
    sources = ArrayField(models.CharField(max_length=40), default=list, blank=True, help_text="Whose data is in it")

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["export", "seq"], name="a_part_of_an_export_is_there_once"),
            models.CheckConstraint(
                name="export_part_state_is_known", condition=Q(state__in=["waiting", "taken", "done"])
            ),
            models.CheckConstraint(
                name="a_written_part_is_counted",
                condition=~Q(state="done") | Q(rows__isnull=False, bytes__isnull=False) & ~Q(sha256=""),
            ),
        ]

    def __str__(self) -> str:
        return f"part {self.seq}"
