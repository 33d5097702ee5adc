"""Restaurants and their source records."""

from collections.abc import Iterable
from datetime import datetime

from django.contrib.postgres.fields import ArrayField
from django.contrib.postgres.indexes import GinIndex, GistIndex, OpClass
from django.db import models
from django.db.models import Case, F, Func, Q, Value, When
from django.db.models.functions import Replace, Upper
from django.db.models.lookups import Exact
from django.utils.translation import pgettext_lazy

from catalogue.models.postgres_fields import PointField
from catalogue.models.reference_data import Cuisine, Market, Source
from framework.public_ids import new_id

# Values of the attribute `kind`, which importers set: those of `amenity` in OpenStreetMap.
KINDS = ("restaurant", "cafe", "fast_food", "bar", "pub", "food_court", "ice_cream", "biergarten")


class Mercator(Func):
    """The function of catalogue/sql/mercator.sql, of a latitude and a longitude: a point in Web-Mercator metres."""

    function = "mercator"
    output_field = PointField()


def _is_object(column: str) -> Exact:
    return Exact(Func(column, function="jsonb_typeof", output_field=models.TextField()), Value("object"))


class Restaurants(models.QuerySet["Restaurant"]):
    def set_status(self, status: str, *, now: datetime) -> int:
        """Give them a status that imports leave alone; how many did not have it or not for good. One statement.

        Who is merged or erased is passed over.
        """
        is_locked = Q(locked_fields__contains=["status"])
        names = ArrayField(models.CharField(max_length=40))
        lock = Func("locked_fields", Value("status"), function="array_append", output_field=names)
        return (
            self.filter(merged_into=None, erased_at=None)
            .exclude(is_locked, status=status)
            .order_by()
            .update(
                status=status,
                locked_fields=Case(When(is_locked, then=F("locked_fields")), default=lock),
                updated_at=now,
            )
        )


class Restaurant(models.Model):
    """A place to eat, as the catalogue knows it from all its sources.

    What follows from a row follows by triggers, whoever writes it: the version goes up with each change, a Version
    keeps what changed, an old slug becomes a FormerSlug, and SearchRow and Record are rendered
    (catalogue/sql/on_restaurant_update.sql).
    """

    # The fields that open intervals are computed from.
    BEHIND_SPANS = frozenset({"hours", "status", "latitude", "longitude"})
    # The fields of a pair are locked and written together: half of it would be wrong.
    PAIRS = (frozenset({"cuisine", "cuisines"}), frozenset({"latitude", "longitude"}))

    class Status(models.TextChoices):
        OPEN = "open", pgettext_lazy("restaurant", "Open")
        TEMPORARILY_CLOSED = "temporarily_closed", pgettext_lazy("restaurant", "Temporarily Closed")
        PERMANENTLY_CLOSED = "permanently_closed", pgettext_lazy("restaurant", "Permanently Closed")
        MOVED = "moved", pgettext_lazy("restaurant", "Moved")
        UNVERIFIED = "unverified", pgettext_lazy("restaurant", "Unverified")

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
    menu_url = models.URLField(max_length=500, null=True, blank=True, help_text="Page with the menu")
    description = models.CharField(
        max_length=1000, null=True, blank=True, help_text="What the restaurant says about itself"
    )
    rating = models.DecimalField(max_digits=2, decimal_places=1, null=True, blank=True)
    review_count = models.PositiveIntegerField(default=0)
    star_counts = ArrayField(
        models.IntegerField(), size=5, default=list, blank=True, help_text="From one star to five"
    )
    review_facets = models.JSONField(
        default=dict, db_default={}, blank=True, editable=False, help_text="by_lang, with_photos, with_reply"
    )
    price_level = models.IntegerField(null=True, blank=True, help_text="1 to 4, one step per currency symbol")
    cuisine = models.ForeignKey(Cuisine, on_delete=models.PROTECT, null=True, blank=True, related_name="restaurants")
    cuisines = ArrayField(
        models.CharField(max_length=60), default=list, blank=True, help_text="Slugs, the main one first"
    )

    hours = models.JSONField(null=True, blank=True, help_text="As catalogue.hours.Hours.to_json; null when unknown")
    attributes = models.JSONField(default=dict, blank=True)
    external_ids = models.JSONField(default=dict, blank=True)

    verified_at = models.DateTimeField(null=True, blank=True)
    created_at = models.DateTimeField()
    updated_at = models.DateTimeField()
    version = models.PositiveIntegerField(default=1, help_text="Set by the database")
    merged_into = models.ForeignKey(
        "self", on_delete=models.PROTECT, null=True, blank=True, editable=False, related_name="merged"
    )
    erased_at = models.DateTimeField(null=True, blank=True, editable=False)
    locked_fields = ArrayField(
        models.CharField(max_length=40),
        default=list,
        db_default=[],
        blank=True,
        help_text="Set by staff: imports do not change these fields",
    )
    objects = Restaurants.as_manager()

    class Meta:
        constraints = [
            models.CheckConstraint(name="restaurant_price_level_in_1_to_4", condition=Q(price_level__range=(1, 4))),
            models.CheckConstraint(name="restaurant_rating_in_1_to_5", condition=Q(rating__range=(1, 5))),
            models.CheckConstraint(
                name="restaurant_location_valid",
                condition=Q(latitude__isnull=True, longitude__isnull=True)
                # The limit of Web Mercator.
                | Q(
                    latitude__isnull=False,
                    longitude__isnull=False,
                    latitude__range=(-85, 85),
                    longitude__range=(-180, 180),
                ),
                violation_error_message=(
                    "A location is a latitude within 85 degrees and a longitude within 180, or neither."
                ),
            ),
            models.CheckConstraint(
                name="restaurant_country_code_valid",
                condition=Q(country__regex="^[A-Z]{2}$"),
                violation_error_message="The country is a code of ISO 3166-1: DK.",
            ),
            models.CheckConstraint(
                name="restaurant_not_merged_into_itself",
                condition=Q(merged_into__isnull=True) | ~Q(merged_into=F("id")),
            ),
            models.CheckConstraint(name="restaurant_attributes_is_object", condition=_is_object("attributes")),
            models.CheckConstraint(name="restaurant_external_ids_is_object", condition=_is_object("external_ids")),
            models.CheckConstraint(name="restaurant_phone_is_e164", condition=Q(phone__regex=r"^\+[1-9][0-9]{6,14}$")),
            models.CheckConstraint(
                name="restaurant_slug_is_lowercase", condition=Q(slug__regex=r"^[a-z0-9]+(-[a-z0-9]+)*$")
            ),
        ]
        indexes = [
            GistIndex(fields=["position"], name="restaurant_by_position"),
            GinIndex(OpClass(Func("name", function="fold"), "gin_trgm_ops"), name="restaurant_by_name_trigrams"),
            # find_areas.sql compares codes without spaces.
            models.Index(Upper(Replace("postal_code", Value(" "), Value(""))), name="restaurant_by_postal_code"),
            models.Index(fields=["phone"], name="restaurant_by_phone", condition=Q(phone__isnull=False)),
            # Equality and prefixes: the websites at one host.
            models.Index(
                fields=["website"],
                name="restaurant_by_website",
                opclasses=["varchar_pattern_ops"],
                condition=Q(website__isnull=False),
            ),
            models.Index(fields=["market", "id"], name="restaurant_by_market"),
            models.Index(fields=["updated_at", "id"], name="restaurant_by_update"),
            # The admin lists the few that are not open.
            models.Index(fields=["status", "id"], name="restaurant_not_open", condition=~Q(status="open")),
            models.Index(
                fields=["id"],
                name="restaurant_with_unparsed_hours",
                condition=Q(hours__contains={"known": False}) | Q(hours__has_key="notes"),
            ),
        ]

    def __str__(self) -> str:
        return self.name

    @classmethod
    def with_pairs(cls, fields: Iterable[str]) -> set[str]:
        """The fields, and the other halves of the pairs that they are of."""
        given = set(fields)
        return given.union(*(pair for pair in cls.PAIRS if pair & given))


class SourceRecord(models.Model):
    """A record of a source about a restaurant: imports find the restaurant by its key."""

    # The digest of a record that is missing in the newest release of its source, or of an owner whose claim ended. Its
    # fields may be changed by others.
    MISSING = "missing"

    restaurant = models.ForeignKey(Restaurant, on_delete=models.CASCADE, related_name="source_records")
    source = models.ForeignKey(Source, on_delete=models.PROTECT, related_name="records")
    record = models.CharField(max_length=120, help_text="The source's own id")
    digest = models.CharField(max_length=64, help_text="SHA-256 of the record; equal means unchanged")
    fields = ArrayField(models.CharField(max_length=40), default=list, help_text="Fields taken from this source")
    updated_at = models.DateTimeField()

    class Meta:
        constraints = [models.UniqueConstraint(fields=["source", "record"], name="unique_source_record")]

    def __str__(self) -> str:
        return f"{self.source_id}:{self.record}"
