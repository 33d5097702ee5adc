"""Restaurants, and the dictionaries that their columns point into."""

from django.contrib.postgres.fields import ArrayField
from django.contrib.postgres.indexes import GinIndex, GistIndex, OpClass
from django.contrib.postgres.search import SearchVectorField
from django.db import models
from django.db.models import Func, Q

from catalogue.fields import PointField, SpansField
from config.api.ids import new_id


class Mercator(Func):
    """The SQL function `mercator(latitude, longitude)` of the first migration: a point in Web-Mercator metres."""

    function = "mercator"
    output_field = PointField()


class Source(models.Model):
    """Where records come from, and under which terms they are passed on."""

    key = models.SlugField(primary_key=True, max_length=40)
    name = models.CharField(max_length=120)
    license = models.CharField(max_length=60, help_text="SPDX identifier, for example ODbL-1.0")
    attribution = models.CharField(max_length=200, help_text="The line that an answer with this source carries")

    def __str__(self) -> str:
        return self.name


class Market(models.Model):
    """One of the cities that the catalogue covers."""

    slug = models.SlugField(primary_key=True, max_length=40)
    name = models.CharField(max_length=80)
    country = models.CharField(max_length=2, help_text="ISO 3166-1 alpha-2")
    timezone = models.CharField(max_length=64, help_text="IANA name")
    currency = models.CharField(max_length=3, help_text="ISO 4217")
    calling_code = models.CharField(max_length=4, help_text="Digits after the plus, for numbers written nationally")
    latitude = models.FloatField()
    longitude = models.FloatField()
    radius_m = models.PositiveIntegerField(help_text="A place farther from the centre is not of this market")

    def __str__(self) -> str:
        return self.name


class Cuisine(models.Model):
    """A kind of kitchen: `seafood`, shown as "Seafood"."""

    slug = models.SlugField(primary_key=True, max_length=60)
    label = models.CharField(max_length=80)

    def __str__(self) -> str:
        return self.label


class Restaurant(models.Model):
    """A place to eat, as the catalogue knows it from all its sources."""

    class Status(models.TextChoices):
        OPEN = "open"
        TEMPORARILY_CLOSED = "temporarily_closed"
        PERMANENTLY_CLOSED = "permanently_closed"
        MOVED = "moved"
        UNVERIFIED = "unverified"

    id = models.UUIDField(primary_key=True, default=new_id, editable=False)
    slug = models.SlugField(max_length=120, unique=True)
    name = models.CharField(max_length=200)
    alt_names = ArrayField(models.CharField(max_length=200), default=list, blank=True)
    status = models.CharField(max_length=20, choices=Status, default=Status.OPEN)
    market = models.ForeignKey(Market, on_delete=models.PROTECT, related_name="restaurants")
    neighborhood = models.CharField(max_length=120, null=True, blank=True)

    line1 = models.CharField(max_length=200, null=True, blank=True)
    locality = models.CharField(max_length=120, null=True, blank=True)
    region = models.CharField(max_length=120, null=True, blank=True)
    postal_code = models.CharField(max_length=20, null=True, blank=True)
    country = models.CharField(max_length=2)
    latitude = models.FloatField(null=True, blank=True)
    longitude = models.FloatField(null=True, blank=True)
    position = models.GeneratedField(
        expression=Mercator("latitude", "longitude"), output_field=PointField(null=True), db_persist=True
    )

    phone = models.CharField(max_length=16, null=True, blank=True, help_text="E.164")
    phone_verified_at = models.DateTimeField(null=True, blank=True)
    website = models.URLField(max_length=500, null=True, blank=True)
    rating = models.DecimalField(max_digits=2, decimal_places=1, null=True, blank=True)
    review_count = models.PositiveIntegerField(default=0)
    star_counts = ArrayField(
        models.IntegerField(), size=5, default=list, blank=True, help_text="From one star to five"
    )
    price_level = models.IntegerField(null=True, blank=True, help_text="1 to 4, one step per currency symbol")
    cuisine = models.ForeignKey(Cuisine, on_delete=models.PROTECT, null=True, blank=True, related_name="restaurants")
    cuisines = ArrayField(
        models.CharField(max_length=60), default=list, blank=True, help_text="Slugs, the main one first"
    )

    hours = models.JSONField(null=True, blank=True, help_text="As catalogue.hours.Hours.to_json; null when unknown")
    open_spans = SpansField(null=True, blank=True, editable=False)
    spans_until = models.DateTimeField(null=True, blank=True, editable=False)
    attributes = models.JSONField(default=dict, blank=True)
    external_ids = models.JSONField(default=dict, blank=True)

    verified_at = models.DateTimeField(null=True, blank=True)
    created_at = models.DateTimeField()
    updated_at = models.DateTimeField()
    version = models.PositiveIntegerField(default=1)
    document = models.GeneratedField(
        expression=Func("name", "alt_names", "cuisines", "neighborhood", function="restaurant_document"),
        output_field=SearchVectorField(),
        db_persist=True,
    )

    class Meta:
        constraints = [
            models.CheckConstraint(name="restaurant_price_level_in_1_to_4", condition=Q(price_level__range=(1, 4))),
            models.CheckConstraint(name="restaurant_rating_in_1_to_5", condition=Q(rating__range=(1, 5))),
            models.CheckConstraint(
                name="restaurant_location_whole_and_on_earth",
                condition=Q(latitude__isnull=True, longitude__isnull=True)
                # Web Mercator ends at 85 degrees north and south.
                | Q(latitude__range=(-85, 85), longitude__range=(-180, 180)),
            ),
            models.CheckConstraint(name="restaurant_phone_is_e164", condition=Q(phone__regex=r"^\+[1-9][0-9]{6,14}$")),
            models.CheckConstraint(
                name="restaurant_slug_is_lowercase", condition=Q(slug__regex=r"^[a-z0-9]+(-[a-z0-9]+)*$")
            ),
        ]
        indexes = [
            GistIndex(fields=["position"], name="restaurant_by_position"),
            GinIndex(fields=["document"], name="restaurant_by_words"),
            GinIndex(fields=["cuisines"], name="restaurant_by_cuisine"),
            GinIndex(OpClass(Func("name", function="fold"), "gin_trgm_ops"), name="restaurant_by_name_trigrams"),
            models.Index(Func("line1", function="fold"), name="restaurant_by_address"),
            models.Index(fields=["spans_until"], name="restaurant_by_spans_until"),
            models.Index(fields=["market", "-review_count", "id"], name="restaurant_by_market_best"),
            models.Index(fields=["-review_count", "id"], name="restaurant_by_reviews"),
        ]

    def __str__(self) -> str:
        return self.name


class SourceRecord(models.Model):
    """What one source says of one restaurant: the key by which an import finds it again."""

    restaurant = models.ForeignKey(Restaurant, on_delete=models.CASCADE, related_name="source_records")
    source = models.ForeignKey(Source, on_delete=models.PROTECT, related_name="records")
    record = models.CharField(max_length=120, help_text="The source's own id")
    digest = models.CharField(max_length=64, help_text="SHA-256 of the record as read: equal means nothing to do")
    fields = ArrayField(models.CharField(max_length=40), default=list, help_text="What the restaurant took from here")
    updated_at = models.DateTimeField()

    class Meta:
        constraints = [models.UniqueConstraint(fields=["source", "record"], name="one_restaurant_per_source_record")]

    def __str__(self) -> str:
        return f"{self.source_id}:{self.record}"
