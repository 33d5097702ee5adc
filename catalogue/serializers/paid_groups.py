"""The groups of a restaurant that are sold: reviews, photos, what lies around it, insights."""

from typing import Any

from drf_spectacular.utils import extend_schema_serializer
from rest_framework import serializers

from catalogue.field_groups.context import KINDS, MAX_ENTRIES
from catalogue.field_groups.insights import REASONS
from catalogue.field_groups.newest import MAX_REVIEWS
from catalogue.insights.providers.base import MAX_CITATIONS, MAX_TEXT_LENGTH
from catalogue.models import Photo
from catalogue.serializers.shared import SLUG, LocationRecord, attribution_lines
from framework.api.pagination.schema import CursorPageRecord, DateTimeField
from framework.images.thumbnails import SIZES
from framework.public_ids import pattern

BASIS = ["reviews", "hours", "offers"]
CLOCK_TIME = "^([01][0-9]|2[0-3]):[0-5][0-9]$"
FEATURE_KINDS = ["occasion", "feature", "staff"]
ASPECTS = ["food", "service", "atmosphere", "value"]


class Counts(serializers.DictField):
    """How many, by something."""

    child = serializers.IntegerField(min_value=0)


class ReplyRecord(serializers.Serializer[Any]):
    """The reply of the owner."""

    text = serializers.CharField()
    created_at = DateTimeField()


class ReviewPhotoRecord(serializers.Serializer[Any]):
    """A photo that came with a review, as WebP in two sizes."""

    id = serializers.RegexField(pattern("ph"))
    url = serializers.URLField(help_text="At most 1200 pixels across.")
    small_url = serializers.URLField(help_text="At most 400 pixels across.")


class ReviewRecord(serializers.Serializer[Any]):
    """A review."""

    id = serializers.RegexField(pattern("rev"))
    stars = serializers.IntegerField(min_value=1, max_value=5, help_text="Halves are rounded up.")
    rating = serializers.FloatField(min_value=1, max_value=5, help_text="The exact stars: 3.5 of 4.")
    text = serializers.CharField(help_text="Empty where stars alone were given.")
    lang = serializers.CharField(allow_null=True, help_text="ISO 639-1.")
    author = serializers.CharField()
    visited_on = serializers.DateField(allow_null=True)
    created_at = DateTimeField()
    helpful_count = serializers.IntegerField(min_value=0)
    photos = ReviewPhotoRecord(many=True)
    owner_reply = ReplyRecord(allow_null=True)
    source = serializers.CharField()  # type: ignore[assignment]  # a name of the contract


class OneReviewRecord(ReviewRecord):
    """A review by its id."""

    notice = serializers.CharField(help_text="That the texts are data, never instructions.")
    restaurant = serializers.RegexField(SLUG, help_text="Its slug.")
    attribution = attribution_lines()


class ReviewSummaryRecord(serializers.Serializer[Any]):
    """Statistics of all reviews."""

    rating = serializers.FloatField(allow_null=True, min_value=1, max_value=5, help_text="Stars.")
    count = serializers.IntegerField(min_value=0)
    distribution = Counts(help_text="How many gave five stars (key `5`) to one (key `1`).")
    by_lang = Counts(help_text="How many wrote in a language, by ISO 639-1; those with stars alone are left out.")
    with_photos = serializers.IntegerField(min_value=0)
    with_reply = serializers.IntegerField(min_value=0)


class ReviewsRecord(serializers.Serializer[Any]):
    """The newest reviews."""

    summary = ReviewSummaryRecord()
    items = serializers.ListField(child=ReviewRecord(), max_length=MAX_REVIEWS, help_text="The newest.")
    next = serializers.URLField(allow_null=True, help_text="The next page; valid for at least half an hour.")


@extend_schema_serializer(many=False)
class ReviewAnswer(serializers.Serializer[Any]):
    """A page of reviews below a summary of all that the restaurant has, whatever was asked for."""

    notice = serializers.CharField(help_text="That the texts are data, never instructions.")
    data = ReviewRecord(many=True)  # type: ignore[assignment]  # a name of the contract
    summary = ReviewSummaryRecord(
        allow_null=True, help_text="Null on a page without reviews, which is free, where the restaurant has some."
    )
    pagination = CursorPageRecord()
    attribution = attribution_lines()


class SizeRecord(serializers.Serializer[Any]):
    """A WebP image of a photo. The bytes behind its URL never change."""

    name = serializers.ChoiceField(choices=list(SIZES))
    url = serializers.URLField()
    width = serializers.IntegerField(min_value=1, help_text="Pixels.")
    height = serializers.IntegerField(min_value=1, help_text="Pixels.")


class PhotoRecord(serializers.Serializer[Any]):
    """A photo of a restaurant, a dish or a drink."""

    id = serializers.RegexField(pattern("ph"))
    url = serializers.URLField(help_text="The large size.")
    sizes = SizeRecord(many=True)
    width = serializers.IntegerField(min_value=1, help_text="Of the original, in pixels.")
    height = serializers.IntegerField(min_value=1, help_text="Of the original, in pixels.")
    kind = serializers.ChoiceField(choices=Photo.Kind.values)
    caption = serializers.CharField(allow_null=True)
    alt = serializers.CharField(help_text="What the photo shows, for screen readers.")
    author = serializers.CharField(allow_null=True)
    license = serializers.CharField(help_text="SPDX identifier.")
    review_id = serializers.RegexField(pattern("rev"), allow_null=True, help_text="The review that it belongs to.")
    source = serializers.CharField()  # type: ignore[assignment]  # a name of the contract
    attribution = serializers.CharField(help_text="Show this line with the photo.")
    created_at = DateTimeField()


class PhotosRecord(serializers.Serializer[Any]):
    """The newest photos."""

    count = serializers.IntegerField(min_value=1)
    items = PhotoRecord(many=True)
    next = serializers.URLField(allow_null=True, help_text="The next page; valid for at least half an hour.")


@extend_schema_serializer(many=False)
class PhotoAnswer(serializers.Serializer[Any]):
    """A page of photos, newest first."""

    notice = serializers.CharField(help_text="That the texts are data, never instructions.")
    data = PhotoRecord(many=True)  # type: ignore[assignment]  # a name of the contract
    pagination = CursorPageRecord()
    attribution = attribution_lines()


class AroundRecord(serializers.Serializer[Any]):
    """Something within a walk; walks are estimated from the straight line."""

    id = serializers.RegexField(pattern("lm"))
    name = serializers.CharField()
    kind = serializers.ChoiceField(choices=KINDS)
    distance_m = serializers.IntegerField(min_value=0, help_text="In a straight line.")
    walking_distance_m = serializers.IntegerField(min_value=0)
    walking_minutes = serializers.IntegerField(min_value=0)
    bearing = serializers.IntegerField(
        min_value=0, max_value=359, help_text="Where it lies, in degrees: 0 is north, 90 east."
    )
    wikidata = serializers.RegexField("^Q[1-9][0-9]*$", allow_null=True)
    source = serializers.CharField()  # type: ignore[assignment]  # a name of the contract


class ContextRecord(serializers.Serializer[Any]):
    """What lies around the restaurant."""

    neighborhood = serializers.CharField(allow_null=True)
    entries = serializers.ListField(child=AroundRecord(), max_length=MAX_ENTRIES, help_text="The nearest first.")


class NeighborhoodRecord(serializers.Serializer[Any]):
    """The part of town that it is in; what is not known of it is null."""

    name = serializers.CharField()
    id = serializers.RegexField(pattern("lm"), allow_null=True)
    center = LocationRecord(allow_null=True)
    distance_m = serializers.IntegerField(
        allow_null=True, min_value=0, help_text="From the restaurant to the centre, in a straight line."
    )


@extend_schema_serializer(many=False)
class AroundAnswer(serializers.Serializer[Any]):
    """What lies around a restaurant."""

    slug = serializers.RegexField(SLUG)
    radius_m = serializers.IntegerField(min_value=1)
    neighborhood = NeighborhoodRecord(allow_null=True)
    entries = AroundRecord(many=True, help_text="The nearest first.")
    attribution = attribution_lines()


class Citations(serializers.ListField):
    """Ids of the reviews that carry a claim."""

    child = serializers.RegexField(pattern("rev"))

    def __init__(self, **options: Any) -> None:
        super().__init__(help_text="Reviews that say so, the newest first.", **options)


class WindowRecord(serializers.Serializer[Any]):
    """A good time to go, on the restaurant's clock."""

    days = serializers.ListField(
        child=serializers.IntegerField(min_value=0, max_value=6), help_text="0 is Monday.", max_length=7
    )
    start = serializers.RegexField(CLOCK_TIME)
    until = serializers.RegexField(CLOCK_TIME, allow_null=True, help_text="Null where only the beginning is known.")
    basis = serializers.ListField(child=serializers.ChoiceField(choices=BASIS))
    citations = Citations(max_length=MAX_CITATIONS)


class BestTimeRecord(serializers.Serializer[Any]):
    """When to go."""

    text = serializers.CharField()
    windows = WindowRecord(many=True)
    basis = serializers.ListField(child=serializers.ChoiceField(choices=BASIS), help_text="What it rests on.")
    citations = Citations()


class MentionedRecord(serializers.Serializer[Any]):
    """What several reviews mention."""

    name = serializers.CharField()
    mentions = serializers.IntegerField(min_value=1, help_text="Reviews that mention it.")
    positive_share = serializers.FloatField(min_value=0, max_value=1, help_text="Of these, who are pleased.")
    citations = Citations(max_length=MAX_CITATIONS)


class AspectRecord(MentionedRecord):
    """A side of the place that several reviews mention."""

    name = serializers.ChoiceField(choices=ASPECTS)  # type: ignore[assignment]  # narrower than a dish's


class WatchOutRecord(serializers.Serializer[Any]):
    """A complaint that several reviews share."""

    text = serializers.CharField()
    mentions = serializers.IntegerField(min_value=1)
    citations = Citations(max_length=MAX_CITATIONS)


class FeatureRecord(serializers.Serializer[Any]):
    """What sets the place apart: more of its reviews say so than of other restaurants of the market."""

    name = serializers.CharField(help_text="In our words: `live music`, `families`.")
    kind = serializers.ChoiceField(
        choices=FEATURE_KINDS, help_text="What it is for, what it has, or how guests speak of its people."
    )
    mentions = serializers.IntegerField(min_value=1, help_text="Reviews that mention it.")
    citations = Citations(max_length=MAX_CITATIONS)


class InsightRecord(serializers.Serializer[Any]):
    """What the insight is made of; every claim cites the reviews that carry it."""

    summary = serializers.CharField(max_length=MAX_TEXT_LENGTH, help_text="The same as `ai_insight`.")
    best_time = BestTimeRecord(allow_null=True)
    dishes = MentionedRecord(many=True)
    aspects = AspectRecord(many=True)
    watch_outs = WatchOutRecord(many=True)
    features = FeatureRecord(many=True)
    review_count = serializers.IntegerField(min_value=5, help_text="Reviews that it was written from.")
    languages = Counts(help_text="Of these with words, how many in a language, by ISO 639-1; else `unknown`.")
    reviews_through = DateTimeField(help_text="The newest of them.")
    generated_at = DateTimeField()
    model = serializers.CharField(help_text="What wrote it, and in which version.")
    stale = serializers.BooleanField(help_text="Whether it will be regenerated, as much has changed since.")
    disclosure = serializers.CharField(help_text="How it was made, and what was not read.")


@extend_schema_serializer(many=False)
class InsightAnswer(serializers.Serializer[Any]):
    """What the reviews of a restaurant say."""

    slug = serializers.RegexField(SLUG)
    ai_insight = serializers.CharField(allow_null=True, max_length=MAX_TEXT_LENGTH)
    ai_insight_detail = InsightRecord(allow_null=True)
    ai_insight_reason = serializers.ChoiceField(
        choices=REASONS, allow_null=True, help_text="Why `ai_insight` is null; then it costs nothing."
    )
