"""A page of a search, and several restaurants at once: the document of what catalogue.search.results writes."""

from typing import Any

from drf_spectacular.utils import extend_schema_serializer
from rest_framework import serializers

from catalogue.search import Facet
from catalogue.serializers.restaurants import RestaurantRecord
from catalogue.serializers.shared import (
    COUNTRY,
    PHONE,
    PLACE_KINDS,
    SLUG,
    LocationRecord,
    OfferRecord,
    attribution_lines,
)
from framework.api.fields import ConstantField
from framework.api.pagination.schema import CursorPageRecord, DateTimeField
from framework.public_ids import pattern


class Hit(serializers.Serializer[Any]):
    """A restaurant in a list. What is not known is null; distances are null without a reference point."""

    # The fields that need no reference point and no moment are rendered by catalogue/sql/restaurant_search_row.sql.
    slug = serializers.RegexField(SLUG)
    name = serializers.CharField()
    neighborhood = serializers.CharField(allow_null=True)
    market = serializers.RegexField(SLUG)
    city = serializers.CharField(help_text="The name of the market.")
    country = serializers.RegexField(COUNTRY, help_text="ISO 3166-1.")
    rating = serializers.FloatField(allow_null=True, min_value=1, max_value=5, help_text="Stars.")
    review_count = serializers.IntegerField(min_value=0)
    price_level = serializers.IntegerField(allow_null=True, min_value=1, max_value=4)
    cuisine = serializers.CharField(allow_null=True, help_text="The label of the main cuisine.")
    cuisines = serializers.ListField(child=serializers.RegexField(SLUG), help_text="Slugs, the main one first.")
    phone = serializers.RegexField(PHONE, allow_null=True, help_text="E.164.")
    walking_distance_m = serializers.IntegerField(
        allow_null=True, min_value=0, help_text="From the reference point; estimated from the straight line."
    )
    walking_minutes = serializers.IntegerField(allow_null=True, min_value=0)
    distance_m = serializers.IntegerField(allow_null=True, min_value=0, help_text="In a straight line.")
    open_now = serializers.BooleanField(allow_null=True, help_text="Null where the hours are not known.")
    next_change = DateTimeField(
        allow_null=True, help_text="When it opens or closes next; null where that is not known or not in sight."
    )
    flow_offer = OfferRecord(
        allow_null=True, help_text="The next discount that can be booked; the next that fits where one was asked for."
    )
    location = LocationRecord(allow_null=True)


class PlaceRecord(serializers.Serializer[Any]):
    """The place that a name was resolved to."""

    id = serializers.RegexField(
        f"{pattern('lm')}|{pattern('rst')}",
        allow_null=True,
        help_text="Null: a street, a postal code, an airport, or another area that is no landmark.",
    )
    name = serializers.CharField()
    kind = serializers.ChoiceField(choices=PLACE_KINDS)
    market = serializers.RegexField(SLUG, allow_null=True)
    lat = serializers.FloatField(min_value=-85, max_value=85)
    lng = serializers.FloatField(min_value=-180, max_value=180)
    city = serializers.CharField(allow_null=True, help_text="The name of the market.")
    country = serializers.RegexField(COUNTRY, allow_null=True, help_text="ISO 3166-1.")
    near = serializers.CharField(
        allow_null=True,
        help_text="The value of `near` that means this place and no other; null outside of all markets.",
    )
    ambiguous = serializers.BooleanField(
        help_text="Whether a place of another city has this name and is about as likely: it is among the others."
    )


class CountRecord(serializers.Serializer[Any]):
    """A number of restaurants."""

    value = serializers.IntegerField(min_value=0)
    relation = serializers.ChoiceField(choices=["eq", "gte"], help_text="`gte`: there may be more.")


class WithoutRecord(serializers.Serializer[Any]):
    """What would match otherwise."""

    parameter = serializers.CharField()
    value = serializers.CharField(allow_null=True, help_text="The other value; null: without the parameter.")
    total = CountRecord()


class PartRecord(serializers.Serializer[Any]):
    """Words of `q`, and what they became."""

    words = serializers.CharField()
    parameter = serializers.CharField(
        allow_null=True, help_text="The parameter; `q`: looked for as text; null: left out, as `restaurant` is."
    )
    value = serializers.CharField(allow_null=True, help_text="The value of the parameter, several with commas.")


class QueryRecord(serializers.Serializer[Any]):
    """How the query was interpreted."""

    near = serializers.CharField(allow_null=True)
    resolved = PlaceRecord(allow_null=True)
    alternatives = PlaceRecord(many=True, help_text="Other places with this name, the most likely first.")
    open_at = DateTimeField(
        allow_null=True, help_text="The moment at which all hits are open; null when not asked for."
    )
    distance_method = ConstantField("estimated")
    understood = PartRecord(many=True, help_text="The words of `q` and what each became; explicit parameters win.")
    matched = serializers.ChoiceField(
        choices=["all_words", "similar_names", "fewer_words"],
        help_text="`similar_names`: nothing has the words, so these are names that resemble them. `fewer_words`:"
        " nothing has all words, so only those count that name a cuisine, a diet or a kind of place.",
    )
    without = WithoutRecord(
        many=True, help_text="On an empty first page: how many match without a parameter, or in a larger radius."
    )


class PageRecord(CursorPageRecord):
    """Where a page stands in its search."""

    total = CountRecord(required=False, help_text="With `include_total=true`: how many match on all pages.")


class BucketRecord(serializers.Serializer[Any]):
    """What some restaurants have in common."""

    value = serializers.CharField(help_text="The value of the parameter.")
    label = serializers.CharField()  # type: ignore[assignment]  # a name of the contract
    count = serializers.IntegerField(min_value=0)


class FacetsRecord(serializers.Serializer[Any]):
    """Counts over all that match, by what was asked for."""

    counted = CountRecord(help_text="How many restaurants were counted.")

    def get_fields(self) -> dict[str, Any]:
        words = {Facet.RATING: "Restaurants with at least this rating.", Facet.OPEN_NOW: "For the parameter `open`."}
        return super().get_fields() | {
            facet.value: BucketRecord(many=True, required=False, help_text=words.get(facet, "The most frequent 50."))
            for facet in Facet
        }


@extend_schema_serializer(many=False)
class SearchAnswer(serializers.Serializer[Any]):
    """A page of restaurants."""

    data = Hit(many=True)  # type: ignore[assignment]  # a name of the contract
    pagination = PageRecord()
    query = QueryRecord()
    attribution = attribution_lines()
    facets = FacetsRecord(required=False)


class LookUp(serializers.Serializer[Any]):
    """What became of slugs that were asked for."""

    missing = serializers.ListField(child=serializers.CharField(), help_text="Slugs of which nothing is known.")
    closed = serializers.ListField(child=serializers.CharField(), help_text="Slugs of what has closed for good.")
    renamed = serializers.DictField(
        child=serializers.CharField(), help_text="Slugs that were asked for, and what each has become."
    )
    attribution = attribution_lines()


@extend_schema_serializer(many=False)
class BatchAnswer(LookUp):
    """Restaurants that were asked for by their slugs."""

    data = Hit(many=True)  # type: ignore[assignment]  # a name of the contract


@extend_schema_serializer(many=False)
class RecordsAnswer(LookUp):
    """Records that were asked for by their slugs, with the field groups of `fields`."""

    data = RestaurantRecord(many=True)  # type: ignore[assignment]  # a name of the contract
