"""Landmarks: reference points of searches."""

from uuid import UUID

from django.contrib.postgres.indexes import GinIndex, GistIndex
from django.db import models
from django.db.models import Func, Q
from django.db.models.functions import Now

from catalogue.models.postgres_fields import PointField
from catalogue.models.reference_data import Market, Source
from catalogue.models.restaurants import Mercator
from framework.public_ids import new_id


class Landmark(models.Model):
    """A known place that is not a restaurant: the reference point of a search."""

    class Kind(models.TextChoices):
        LANDMARK = "landmark"
        MUSEUM = "museum"
        PARK = "park"
        THEATRE = "theatre"
        VIEWPOINT = "viewpoint"
        MARKET = "market"
        TRANSIT = "transit"
        HOTEL = "hotel"
        NEIGHBORHOOD = "neighborhood"
        CITY = "city"

    id = models.UUIDField(primary_key=True, default=new_id, editable=False)
    name = models.CharField(max_length=200)
    kind = models.CharField(max_length=20, choices=Kind)
    market = models.ForeignKey(Market, on_delete=models.PROTECT, null=True, blank=True, related_name="landmarks")
    latitude = models.FloatField()
    longitude = models.FloatField()
    position = models.GeneratedField(
        expression=Mercator("latitude", "longitude"), output_field=PointField(), db_persist=True
    )
    prominence = models.PositiveSmallIntegerField(
        default=0, help_text="0 to 100: decides between landmarks with the same name"
    )
    wikidata = models.CharField(max_length=20, null=True, blank=True, unique=True)
    source = models.ForeignKey(Source, on_delete=models.PROTECT, related_name="+")
    updated_at = models.DateTimeField(db_default=Now(), editable=False, help_text="Set by a trigger")

    class Meta:
        constraints = [
            models.CheckConstraint(
                name="landmark_location_valid", condition=Q(latitude__range=(-85, 85), longitude__range=(-180, 180))
            ),
            models.CheckConstraint(name="landmark_wikidata_is_a_qid", condition=Q(wikidata__regex=r"^Q[1-9][0-9]*$")),
        ]
        indexes = [GistIndex(fields=["position"], name="landmark_by_position")]

    def __str__(self) -> str:
        return self.name


class LandmarkName(models.Model):
    """A name of a landmark: its own, a translation or a short form."""

    landmark = models.ForeignKey(Landmark, on_delete=models.CASCADE, related_name="names")
    name = models.CharField(max_length=200)
    folded = models.GeneratedField(
        expression=Func("name", function="fold"), output_field=models.CharField(max_length=200), db_persist=True
    )

    class Meta:
        constraints = [models.UniqueConstraint(fields=["landmark", "folded"], name="unique_landmark_name")]
        indexes = [
            models.Index(fields=["folded"], name="landmark_name_exact"),
            GinIndex(fields=["folded"], name="landmark_name_trigrams", opclasses=["gin_trgm_ops"]),
        ]

    def __str__(self) -> str:
        return self.name


class NeighborhoodChange(models.Model):
    """A point where a neighborhood was added, changed or deleted: the restaurants around it may have another one.

    A trigger on landmarks adds the rows (catalogue/sql/record_neighborhood_change.sql), and
    catalogue.places.neighborhoods deletes them.
    """

    id = models.BigAutoField(primary_key=True)
    latitude = models.FloatField()
    longitude = models.FloatField()
    after = models.UUIDField(default=UUID(int=0), db_default=UUID(int=0), help_text="The last restaurant that is done")

    def __str__(self) -> str:
        return f"{self.latitude}, {self.longitude}"
