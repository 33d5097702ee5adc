"""Import runs."""

from django.db import models

from catalogue.models.reference_data import Market, Source


class ImportRun(models.Model):
    """One run of an importer over one file, with its counts and the reason why it stopped."""

    class State(models.TextChoices):
        RUNNING = "running"
        DONE = "done"
        FAILED = "failed"
        STOPPED = "stopped", "stopped by the safety check"

    source = models.ForeignKey(Source, on_delete=models.PROTECT, related_name="runs")
    market = models.ForeignKey(Market, on_delete=models.PROTECT, null=True, blank=True, related_name="+")
    file = models.CharField(max_length=400)
    forced = models.BooleanField(default=False, db_default=False, help_text="Ran despite the safety check")
    state = models.CharField(max_length=10, choices=State, default=State.RUNNING)
    read = models.PositiveIntegerField(default=0)
    created = models.PositiveIntegerField(default=0)
    changed = models.PositiveIntegerField(default=0)
    unchanged = models.PositiveIntegerField(default=0)
    skipped = models.PositiveIntegerField(default=0, help_text="Valid rows that are not restaurants")
    merged = models.PositiveIntegerField(
        default=0, db_default=0, help_text="New records of restaurants known from other sources"
    )
    queued = models.PositiveIntegerField(default=0, db_default=0, help_text="Pairs for staff to review")
    closed = models.PositiveIntegerField(default=0, db_default=0, help_text="Missing in a newer release")
    rejected = models.PositiveIntegerField(default=0)
    rejects_file = models.CharField(max_length=400, blank=True)
    error = models.TextField(blank=True)
    started_at = models.DateTimeField()
    finished_at = models.DateTimeField(null=True, blank=True)

    def __str__(self) -> str:
        return f"{self.source_id}: {self.file}"
