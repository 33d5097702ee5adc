"""The history of restaurants: versions and former slugs."""

from django.db import models
from django.db.models import Q
from django.db.models.functions import Now

from catalogue.models.restaurants import Restaurant


class Version(models.Model):
    """One version of a restaurant: who made it out of the one before, when, and what changed.

    A trigger writes it with the change (catalogue/sql/on_restaurant_update.sql). `patch` maps columns to [before,
    after]; the first version has none. `seq` is its place in the feed of changes, given after the commit
    by catalogue.history.publish: in the order of commits, so whoever has read up to a number has missed nothing below
    it.
    """

    class Kind(models.TextChoices):
        CREATED = "created"
        UPDATED = "updated"
        RENAMED = "renamed"
        CLOSED = "closed"
        REOPENED = "reopened"
        MERGED = "merged"
        ERASED = "erased"

    id = models.BigAutoField(primary_key=True)
    restaurant = models.ForeignKey(Restaurant, on_delete=models.CASCADE, db_index=False, related_name="versions")
    version = models.PositiveIntegerField()
    at = models.DateTimeField()
    actor = models.CharField(max_length=80, help_text="import:osm, staff:12, system")
    kind = models.CharField(max_length=10, choices=Kind)
    patch = models.JSONField(default=dict)
    seq = models.BigIntegerField(null=True, unique=True)
    updated_at = models.DateTimeField(db_default=Now(), editable=False, help_text="Set by a trigger")

    class Meta:
        constraints = [models.UniqueConstraint(fields=["restaurant", "version"], name="unique_restaurant_version")]
        indexes = [
            models.Index(fields=["id"], name="version_without_seq", condition=Q(seq__isnull=True)),
            # Finds the newest of a kind without scanning the others.
            models.Index(fields=["kind", "id"], name="version_by_kind"),
        ]

    def __str__(self) -> str:
        return f"version {self.version}: {self.kind}"


class FormerSlug(models.Model):
    """A former slug of a restaurant: it redirects, and is never reused."""

    slug = models.CharField(primary_key=True, max_length=120)
    restaurant = models.ForeignKey(Restaurant, on_delete=models.CASCADE, related_name="former_slugs")
    until = models.DateTimeField()

    def __str__(self) -> str:
        return self.slug
