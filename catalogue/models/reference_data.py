"""Reference data of restaurants: sources and imports, markets and their holidays, cuisines, attributes."""

from django.contrib.postgres.fields import ArrayField
from django.db import models
from django.db.models import Q
from django.db.models.functions import Now

from framework.timezones import validate_zone


class Source(models.Model):
    """A data source with its licence."""

    # The source of what restaurants say of themselves (catalogue.claims). Its rank is 0: no import overrides it.
    OWNER = "owner"

    key = models.SlugField(primary_key=True, max_length=40)
    name = models.CharField(max_length=120)
    license = models.CharField(max_length=60, help_text="SPDX identifier, for example ODbL-1.0")
    attribution = models.CharField(max_length=200, help_text="Attribution in responses with data of this source")
    rank = models.PositiveSmallIntegerField(
        default=100,
        db_default=100,
        help_text="The values of a source with a lower rank override those of a higher one",
    )
    updated_at = models.DateTimeField(db_default=Now(), editable=False, help_text="Set by a trigger")

    def __str__(self) -> str:
        return self.name


class Market(models.Model):
    """A city that the catalogue covers."""

    slug = models.SlugField(primary_key=True, max_length=40)
    name = models.CharField(max_length=80)
    country = models.CharField(max_length=2, help_text="ISO 3166-1 alpha-2")
    region = models.CharField(
        max_length=20,
        default="",
        db_default="",
        blank=True,
        help_text="Code of the region whose public holidays count, beside those of the country: BE for Berlin",
    )
    timezone = models.CharField(max_length=64, validators=[validate_zone], help_text="IANA name")
    currency = models.CharField(max_length=3, help_text="ISO 4217")
    calling_code = models.CharField(max_length=4, help_text="Digits after the plus, for numbers written nationally")
    latitude = models.FloatField()
    longitude = models.FloatField()
    radius_m = models.PositiveIntegerField(help_text="Maximum distance from the centre in metres")

    class Meta:
        constraints = [
            models.CheckConstraint(
                name="market_country_code_valid",
                condition=Q(country__regex="^[A-Z]{2}$"),
                violation_error_message="The country is a code of ISO 3166-1: DK.",
            ),
            models.CheckConstraint(
                name="market_currency_code_valid",
                condition=Q(currency__regex="^[A-Z]{3}$"),
                violation_error_message="The currency is a code of ISO 4217: DKK.",
            ),
            models.CheckConstraint(
                name="market_calling_code_is_digits",
                condition=Q(calling_code__regex="^[1-9][0-9]{0,3}$"),
                violation_error_message="The calling code is the digits after the plus: 45.",
            ),
            models.CheckConstraint(
                name="market_location_valid",
                condition=Q(latitude__range=(-85, 85), longitude__range=(-180, 180)),
                violation_error_message="The centre lies within 85 degrees of latitude and 180 of longitude.",
            ),
            models.CheckConstraint(
                name="market_radius_in_1_m_to_500_km",
                condition=Q(radius_m__range=(1, 500_000)),
                violation_error_message="The radius is 1 to 500,000 metres.",
            ),
        ]

    def __str__(self) -> str:
        return self.name


class Cuisine(models.Model):
    """A cuisine: `seafood`, shown as "Seafood"."""

    slug = models.SlugField(primary_key=True, max_length=60)
    label = models.CharField(max_length=80, help_text="In English")
    labels = models.JSONField(
        default=dict, db_default={}, blank=True, help_text='In other languages: {"da": "Fisk og skaldyr"}'
    )
    parent = models.ForeignKey(
        "self",
        models.SET_NULL,
        null=True,
        blank=True,
        related_name="children",
        # So that the migration locks nothing; the vocabulary takes any slug.
        db_constraint=False,
        db_index=False,
        help_text="The more general cuisine, whose searches find this one too: japanese for sushi",
    )
    synonyms = ArrayField(
        models.CharField(max_length=80),
        default=list,
        db_default=[],
        blank=True,
        help_text="Other words for it in searches, in any language, separated by commas: hamburger, smash burger",
    )
    updated_at = models.DateTimeField(db_default=Now(), editable=False, help_text="Set by a trigger")

    def __str__(self) -> str:
        return self.label


class Attribute(models.Model):
    """An attribute of places: `outdoor_seating`, `diet_vegan`."""

    class Kind(models.TextChoices):
        AMENITY = "amenity"
        DIET = "diet"

    key = models.CharField(primary_key=True, max_length=40)
    label = models.CharField(max_length=80, help_text="In English")
    kind = models.CharField(max_length=10, choices=Kind, default=Kind.AMENITY)
    values = ArrayField(
        models.CharField(max_length=40),
        default=list,
        blank=True,
        help_text="Values in addition to yes and no; empty: none",
    )

    class Meta:
        constraints = [
            models.CheckConstraint(
                name="attribute_key_valid",
                condition=Q(key__regex="^[a-z][a-z0-9_]*$"),
                violation_error_message="A key has small letters, digits and _, and begins with a letter.",
            )
        ]

    def __str__(self) -> str:
        return self.label


class Holiday(models.Model):
    """A public holiday of a market, for `PH` rules in opening hours; staff can add and exclude days."""

    market = models.ForeignKey(Market, on_delete=models.CASCADE, related_name="holidays")
    date = models.DateField()
    name = models.CharField(max_length=120)
    is_struck = models.BooleanField(
        "excluded", default=False, help_text="Excluded: not a holiday here, although the calendars contain it"
    )

    class Meta:
        constraints = [models.UniqueConstraint(fields=["market", "date"], name="unique_market_holiday")]

    def __str__(self) -> str:
        return f"{self.date}: {self.name}"


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
    incomplete = models.PositiveIntegerField(
        default=0, db_default=0, help_text="Rows that were imported without their invalid values"
    )
    reasons = models.JSONField(
        default=dict, db_default={}, blank=True, help_text="By outcome how many rows have each reason; unread keys"
    )
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
