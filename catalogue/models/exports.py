"""Bulk exports and their parts."""

from datetime import datetime
from typing import Self

from django.contrib.postgres.fields import ArrayField
from django.db import models
from django.db.models import Q
from django.utils.translation import pgettext_lazy

from framework.public_ids import PublicId, decode, new_id
from payments.models import Payment, Wallet, shorten_address

PREFIX = "ex"
UNDER_WAY = ("queued", "running")
UNFINISHED = ("awaiting_payment", *UNDER_WAY)


class Exports(models.QuerySet["Export"]):
    def of(self, wallet: str) -> Self:
        """Exports of a wallet; the address is lowercase."""
        return self.filter(wallet=wallet)

    def known_as(self, public_id: str) -> Self:
        """The export with this public id; none for a malformed id."""
        key = decode(PREFIX, public_id)
        return self.filter(pk=key) if key else self.none()

    def unfinished(self) -> Self:
        return self.filter(status__in=UNFINISHED)

    def under_way(self) -> Self:
        return self.filter(status__in=UNDER_WAY)


class Export(models.Model):
    """Files with the rows of a dataset that match a filter, written by workers part by part.

    All files are of one snapshot. Each worker holds it open while it writes and lists its name in `snapshots`, so that
    it lives as long as one of them. When none is left, the next worker takes a fresh one, which is another
    `generation`: a part that was written in an earlier one counts again once it was found unchanged.
    """

    class Dataset(models.TextChoices):
        RESTAURANTS = "restaurants", pgettext_lazy("dataset", "Restaurants")
        REVIEWS = "reviews", pgettext_lazy("dataset", "Reviews")
        PHOTOS = "photos", pgettext_lazy("dataset", "Photos")
        LANDMARKS = "landmarks", pgettext_lazy("dataset", "Landmarks")
        HISTORY = "history", pgettext_lazy("dataset", "History")
        MENUS = "menus", pgettext_lazy("dataset", "Menus")

    class Format(models.TextChoices):
        PARQUET = "parquet", "parquet"
        JSONL_GZ = "jsonl.gz", "jsonl.gz"
        CSV_GZ = "csv.gz", "csv.gz"

    class Status(models.TextChoices):
        AWAITING_PAYMENT = "awaiting_payment"
        QUEUED = "queued"
        RUNNING = "running"
        SUCCEEDED = "succeeded"
        FAILED = "failed"
        CANCELLED = "cancelled"
        EXPIRED = "expired"

    id = models.UUIDField(primary_key=True, default=new_id, editable=False)
    wallet = models.ForeignKey(
        Wallet,
        on_delete=models.PROTECT,
        null=True,
        blank=True,
        related_name="exports",
        help_text="Null: ordered by staff",
    )
    payment = models.OneToOneField(
        Payment,
        on_delete=models.PROTECT,
        null=True,
        blank=True,
        related_name="export",
        help_text="Null: not paid yet, or nothing to pay",
    )
    dataset = models.CharField(max_length=20, choices=Dataset)
    format = models.CharField(max_length=20, choices=Format)
    filter = models.JSONField(default=dict, blank=True)
    fields = ArrayField(
        models.CharField(max_length=20), default=list, blank=True, help_text="Field groups; empty: the core fields"
    )
    since_export = models.ForeignKey(
        "self",
        on_delete=models.PROTECT,
        null=True,
        blank=True,
        related_name="deltas",
        help_text="Only what has changed since that one",
    )
    fingerprint = models.CharField(max_length=64, help_text="SHA-256 of what is exported and how")
    queue = models.CharField(max_length=20, help_text="Queue of the customer's tier")
    status = models.CharField(max_length=20, choices=Status, default=Status.QUEUED)
    rows_total = models.BigIntegerField(null=True, blank=True, help_text="Rows when it began, for the progress")
    rows = models.BigIntegerField(null=True, blank=True, help_text="Rows in the files; known at the end")
    manifest_sha256 = models.CharField(max_length=64, blank=True)
    error = models.CharField(max_length=500, blank=True)
    created_at = models.DateTimeField()
    restarted_at = models.DateTimeField(null=True, blank=True, help_text="When it was last restarted after a failure")
    snapshot_at = models.DateTimeField(null=True, blank=True, help_text="Time of the data in the files")
    changes_from = models.DateTimeField(
        null=True, blank=True, help_text="Changes before this time are in the files; a delta starts here"
    )
    generation = models.PositiveIntegerField(default=0, help_text="Number of snapshots")
    snapshots = ArrayField(
        models.CharField(max_length=40), default=list, blank=True, help_text="Names under which it may still be open"
    )
    finished_at = models.DateTimeField(null=True, blank=True)
    expires_at = models.DateTimeField(null=True, blank=True)

    objects = Exports.as_manager()

    class Meta:
        constraints = [
            models.UniqueConstraint(
                fields=["wallet", "fingerprint"],
                condition=Q(status__in=UNFINISHED),
                name="unique_unfinished_export",
                nulls_distinct=False,
            ),
            models.CheckConstraint(
                name="export_status_valid",
                condition=Q(status__in=[*UNFINISHED, "succeeded", "failed", "cancelled", "expired"]),
            ),
            models.CheckConstraint(name="failed_export_requires_error", condition=~Q(status="failed") | ~Q(error="")),
            models.CheckConstraint(
                name="succeeded_export_requires_rows",
                condition=~Q(status="succeeded") | Q(rows__isnull=False, expires_at__isnull=False),
            ),
        ]
        indexes = [
            models.Index(fields=["wallet", "-created_at"], name="export_newest_of_wallet"),
            models.Index(fields=["created_at"], condition=Q(status="failed"), name="export_failed"),
        ]

    def __str__(self) -> str:
        return f"{self.dataset} for {shorten_address(self.wallet_id) if self.wallet_id else 'staff'}"

    public_id = PublicId(PREFIX)

    @property
    def requested_at(self) -> datetime:
        return self.restarted_at or self.created_at


class ExportPart(models.Model):
    """A range of keys that one worker writes to one file.

    A worker claims it with a lease; `token` is the fencing token, which each claim changes: a worker that has lost its
    lease finds another one. A part counts when it is done and of the current generation of its export.
    """

    class Kind(models.TextChoices):
        ROWS = "rows"
        REMOVED = "removed"

    class State(models.TextChoices):
        QUEUED = "queued"
        CLAIMED = "claimed"
        DONE = "done"

    export = models.ForeignKey(Export, on_delete=models.CASCADE, related_name="parts")
    seq = models.PositiveIntegerField()
    kind = models.CharField(
        max_length=10, choices=Kind, default=Kind.ROWS, help_text="Rows, or the ids of deleted rows of a delta"
    )
    lo = models.CharField(max_length=40, null=True, blank=True, help_text="After this key; null: from the first")
    hi = models.CharField(max_length=40, null=True, blank=True, help_text="Up to this key; null: to the last")
    state = models.CharField(max_length=20, choices=State, default=State.QUEUED)
    lease_until = models.DateTimeField(null=True, blank=True)
    token = models.PositiveBigIntegerField(default=0, help_text="Of the last claim")
    attempts = models.PositiveIntegerField(default=0, help_text="Failed attempts")
    generation = models.PositiveIntegerField(default=0, help_text="Of the snapshot that it is known to be of")
    horizon = models.BigIntegerField(
        null=True, blank=True, help_text="Transactions before this one were all over when it was read"
    )
    file = models.CharField(max_length=100, blank=True, help_text="Its name in the folder of the export")
    rows = models.PositiveIntegerField(null=True, blank=True)
    bytes = models.BigIntegerField(null=True, blank=True)
    sha256 = models.CharField(max_length=64, blank=True)
    sources = ArrayField(models.CharField(max_length=40), default=list, blank=True, help_text="Sources of the data")

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["export", "seq"], name="unique_export_part_seq"),
            models.CheckConstraint(
                name="export_part_state_valid", condition=Q(state__in=["queued", "claimed", "done"])
            ),
            models.CheckConstraint(
                name="done_export_part_requires_rows",
                condition=~Q(state="done") | Q(rows__isnull=False, bytes__isnull=False) & ~Q(sha256=""),
            ),
        ]

    def __str__(self) -> str:
        return f"part {self.seq}"


class Removal(models.Model):
    """A row that was removed from a dataset, for deltas.

    Triggers insert these (catalogue/sql/insert_removals.sql); they are deleted when no delta needs them.
    """

    id = models.BigAutoField(primary_key=True)
    dataset = models.CharField(max_length=20, choices=Export.Dataset)
    key = models.CharField(max_length=60, help_text="Its public id")
    at = models.DateTimeField()

    class Meta:
        indexes = [models.Index(fields=["dataset", "at", "id"], name="removal_by_age")]

    def __str__(self) -> str:
        return self.key
