"""The tables as they are, in models of its own."""

from typing import ClassVar

from django.contrib.postgres.fields import ArrayField
from django.db import models


class ExistingTable(models.Model):
    """A row of a table that others keep."""

    class Meta:
        abstract = True

    def __str__(self) -> str:
        return str(self.pk)


class PointField(models.Field):  # type: ignore[type-arg]  # not at run time
    """A `point`, which is only compared in SQL."""

    def db_type(self, connection: object) -> str:
        """Its name in PostgreSQL."""
        return "point"


class Source(ExistingTable):
    key = models.CharField(primary_key=True, max_length=40)
    license = models.CharField(max_length=60)
    attribution = models.CharField(max_length=200)

    class Meta:
        managed = False
        db_table = "catalogue_source"


class Market(ExistingTable):
    slug = models.CharField(primary_key=True, max_length=40)
    timezone = models.CharField(max_length=64)

    class Meta:
        managed = False
        db_table = "catalogue_market"


class Cuisine(ExistingTable):
    slug = models.CharField(primary_key=True, max_length=60)
    label = models.CharField(max_length=80)

    class Meta:
        managed = False
        db_table = "catalogue_cuisine"


class Restaurant(ExistingTable):
    id = models.UUIDField(primary_key=True)
    slug = models.CharField(max_length=120, unique=True)
    name = models.CharField(max_length=200)
    alt_names = ArrayField(models.CharField(max_length=200))
    status = models.CharField(max_length=20)
    market = models.ForeignKey(Market, on_delete=models.DO_NOTHING)
    neighborhood = models.CharField(max_length=120, null=True)
    line1 = models.CharField(max_length=200, null=True)
    locality = models.CharField(max_length=120, null=True)
    region = models.CharField(max_length=120, null=True)
    postal_code = models.CharField(max_length=20, null=True)
    country = models.CharField(max_length=2)
    latitude = models.FloatField(null=True)
    longitude = models.FloatField(null=True)
    position = PointField(null=True)
    phone = models.CharField(max_length=16, null=True)
    phone_verified_at = models.DateTimeField(null=True)
    website = models.CharField(max_length=500, null=True)
    menu_url = models.CharField(max_length=500, null=True)
    description = models.CharField(max_length=1000, null=True)
    rating = models.DecimalField(max_digits=2, decimal_places=1, null=True)
    review_count = models.IntegerField()
    star_counts = ArrayField(models.IntegerField())
    review_facets = models.JSONField()
    price_level = models.IntegerField(null=True)
    cuisine = models.ForeignKey(Cuisine, on_delete=models.DO_NOTHING, null=True)
    cuisines = ArrayField(models.CharField(max_length=60))
    hours = models.JSONField(null=True)
    attributes = models.JSONField()
    external_ids = models.JSONField()
    verified_at = models.DateTimeField(null=True)
    updated_at = models.DateTimeField()
    version = models.IntegerField()
    merged_into = models.ForeignKey("self", on_delete=models.DO_NOTHING, null=True)
    erased_at = models.DateTimeField(null=True)

    objects: ClassVar[models.Manager["Restaurant"]] = models.Manager()

    class Meta:
        managed = False
        db_table = "catalogue_restaurant"


class Opening(ExistingTable):
    restaurant = models.OneToOneField(
        Restaurant, on_delete=models.DO_NOTHING, primary_key=True, related_name="openings"
    )
    opens = models.DateTimeField()
    closes = models.DateTimeField()

    objects: ClassVar[models.Manager["Opening"]] = models.Manager()

    class Meta:
        managed = False
        # PostgreSQL takes the schema for a part of the name where Django quotes it so.
        db_table = 'reference"."opening'


class SourceRecord(ExistingTable):
    restaurant = models.ForeignKey(Restaurant, on_delete=models.DO_NOTHING, related_name="source_records")
    source = models.ForeignKey(Source, on_delete=models.DO_NOTHING)
    record = models.CharField(max_length=120)
    fields = ArrayField(models.CharField(max_length=40))
    updated_at = models.DateTimeField()

    class Meta:
        managed = False
        db_table = "catalogue_sourcerecord"


class Slot(ExistingTable):
    id = models.UUIDField(primary_key=True)
    restaurant = models.ForeignKey(Restaurant, on_delete=models.DO_NOTHING, related_name="slots")
    starts_at = models.DateTimeField()
    date = models.DateField()
    time = models.TimeField()
    percent = models.SmallIntegerField()
    party_min = models.SmallIntegerField()
    seats_left = models.SmallIntegerField()
    bookable_from = models.DateTimeField(null=True)
    book_before = models.DateTimeField()
    withdrawn_at = models.DateTimeField(null=True)

    objects: ClassVar[models.Manager["Slot"]] = models.Manager()

    class Meta:
        managed = False
        db_table = "catalogue_flowslot"


class Review(ExistingTable):
    id = models.UUIDField(primary_key=True)
    restaurant = models.ForeignKey(Restaurant, on_delete=models.DO_NOTHING, related_name="reviews")
    stars = models.IntegerField()
    text = models.TextField()
    lang = models.CharField(max_length=8)
    author = models.CharField(max_length=120)
    visited_on = models.DateField(null=True)
    helpful_count = models.IntegerField()
    owner_reply = models.TextField(null=True)
    owner_replied_at = models.DateTimeField(null=True)
    source = models.ForeignKey(Source, on_delete=models.DO_NOTHING)
    created_at = models.DateTimeField()

    objects: ClassVar[models.Manager["Review"]] = models.Manager()

    class Meta:
        managed = False
        db_table = "catalogue_review"


class Photo(ExistingTable):
    id = models.UUIDField(primary_key=True)
    review = models.ForeignKey(Review, on_delete=models.DO_NOTHING, null=True, related_name="photos")
    is_hidden = models.BooleanField()
    created_at = models.DateTimeField()

    objects: ClassVar[models.Manager["Photo"]] = models.Manager()

    class Meta:
        managed = False
        db_table = "catalogue_photo"
