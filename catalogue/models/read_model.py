"""The read model: what searches and look-ups read, rendered by the database whenever a restaurant changes.

Only triggers write these rows (catalogue/sql/render_locked_restaurants.sql) and, as time passes,
catalogue.hours.open_intervals the
open intervals and catalogue.search.rank_refresh the order of lists. `manage.py catalogue_check` compares them with the
restaurants.
"""

from django.contrib.postgres.fields import ArrayField
from django.contrib.postgres.indexes import BrinIndex, GinIndex, GistIndex, OpClass
from django.contrib.postgres.search import SearchVectorField
from django.db import models
from django.db.models import F, Func, Q, Value
from django.db.models.functions import Now

from catalogue.models.postgres_fields import PointField, SpansField
from catalogue.models.restaurants import Restaurant


class Record(models.Model):
    """The core fields of a restaurant as JSON, except the state of its hours and its next offer."""

    restaurant = models.OneToOneField(Restaurant, on_delete=models.CASCADE, primary_key=True, related_name="record")
    slug = models.CharField(max_length=120, unique=True)
    status = models.CharField(max_length=20)
    timezone = models.CharField(max_length=64)
    hours_known = models.BooleanField(help_text="Known to be always closed is not the same as not known")
    before = models.TextField()
    hours = models.TextField(help_text="Members of the object `hours`, but for its state")
    after = models.TextField()
    sources = ArrayField(models.CharField(max_length=40), help_text="Sources of the data")
    updated_at = models.DateTimeField(db_default=Now(), editable=False, help_text="Set by a trigger")

    class Meta:
        # BRIN indexes allow HOT updates of the rendered row.
        indexes = [BrinIndex(fields=["updated_at"], name="record_by_update", autosummarize=True)]

    def __str__(self) -> str:
        return self.slug


class SearchRow(models.Model):
    """A restaurant in lists; permanently closed, moved, merged and erased ones have no row."""

    restaurant = models.OneToOneField(
        Restaurant, on_delete=models.CASCADE, primary_key=True, related_name="search_row"
    )
    market = models.CharField(max_length=40)
    position = PointField(null=True)
    latitude = models.FloatField(null=True)
    longitude = models.FloatField(null=True)
    timezone = models.CharField(max_length=64)
    is_shut = models.BooleanField(help_text="Closed for a while, whatever the hours say")
    cuisines = ArrayField(models.CharField(max_length=60))
    price_level = models.IntegerField(null=True)
    rating = models.DecimalField(max_digits=2, decimal_places=1, null=True)
    review_count = models.IntegerField()
    rank_stars = models.IntegerField(help_text="The rating in tenths; 0 without one")
    rank_reviews = models.IntegerField()
    former_stars = models.IntegerField()
    former_reviews = models.IntegerField()
    ranked_at = models.DateTimeField()
    tags = ArrayField(models.CharField(max_length=40), help_text="Keys of the attributes that it has")
    neighborhood = models.CharField(max_length=120, null=True, help_text="Folded")
    name = models.CharField(max_length=200, help_text="Folded")
    line1 = models.CharField(max_length=200, null=True, help_text="Folded")
    document = SearchVectorField()
    sources = ArrayField(models.CharField(max_length=40))
    card = models.TextField()
    open_intervals = SpansField(null=True)
    intervals_until = models.DateTimeField(null=True, help_text="Until when the intervals are computed; null: not yet")
    # Indexed in place of `intervals_until`: extending the intervals does not change it, so no index is updated.
    intervals_missing = models.GeneratedField(
        expression=Q(intervals_until__isnull=True),  # type: ignore[arg-type]  # Django takes a condition too
        output_field=models.BooleanField(),
        db_persist=True,
    )

    class Meta:
        indexes = [
            GistIndex(fields=["position"], name="search_by_position"),
            GinIndex(fields=["document"], name="search_by_document"),
            GinIndex(fields=["cuisines"], name="search_by_cuisine"),
            GinIndex(OpClass(F("name"), "gin_trgm_ops"), name="search_by_name_trigrams"),
            models.Index(OpClass(F("name"), "text_pattern_ops"), name="search_by_name"),
            models.Index(fields=["line1"], name="search_by_address"),
            # The street is the line without its number, as in find_areas.sql.
            models.Index(
                Func(
                    Func(F("line1"), Value(r"\m[0-9]+[a-z]?\M"), Value(""), Value("g"), function="regexp_replace"),
                    Value(" ,"),
                    function="btrim",
                ),
                name="search_by_street",
            ),
            models.Index(fields=["market", "-rank_reviews", "restaurant"], name="search_by_market_reviews"),
            models.Index(fields=["-rank_reviews", "restaurant"], name="search_by_reviews"),
            models.Index(fields=["-rank_stars", "-rank_reviews", "restaurant"], name="search_by_rating"),
            models.Index(
                fields=["market", "-rank_stars", "-rank_reviews", "restaurant"], name="search_by_market_rating"
            ),
            models.Index(fields=["ranked_at"], name="search_by_ranking"),
            models.Index(fields=["restaurant"], name="search_without_intervals", condition=Q(intervals_missing=True)),
        ]

    def __str__(self) -> str:
        return self.name


class Kitchen(models.Model):
    """A cuisine of a listed restaurant: the index that finds a rare cuisine around a point."""

    restaurant = models.ForeignKey(SearchRow, on_delete=models.CASCADE, db_index=False, related_name="kitchens")
    cuisine = models.CharField(max_length=60)
    position = PointField(null=True)
    price_level = models.IntegerField(null=True)
    rating = models.DecimalField(max_digits=2, decimal_places=1, null=True)

    class Meta:
        # Equality first: with the position first the planner would scan all other cuisines.
        indexes = [GistIndex(fields=["cuisine", "position", "price_level"], name="kitchen_by_cuisine_and_position")]
        constraints = [models.UniqueConstraint(fields=["restaurant", "cuisine"], name="unique_restaurant_kitchen")]

    def __str__(self) -> str:
        return self.cuisine
