"""The groups of a restaurant that are sold: reviews, what lies around it, insights."""

from typing import Any

from rest_framework import serializers

from catalogue.groups.context import KINDS, MOST
from catalogue.groups.reviews import NEWEST
from catalogue.insights.provider import LONGEST, MOST_CITED
from catalogue.serializers.pieces import Moment
from config.api.ids import pattern

ASPECTS = ["food", "service", "atmosphere", "value"]


class Counts(serializers.DictField):
    """How many, by something."""

    child = serializers.IntegerField(min_value=0)


class ReplyRecord(serializers.Serializer[Any]):
    """What the owner answered."""

    text = serializers.CharField()
    created_at = Moment()


class ReviewRecord(serializers.Serializer[Any]):
    """What one guest wrote."""

    id = serializers.RegexField(pattern("rev"))
    stars = serializers.IntegerField(min_value=1, max_value=5)
    text = serializers.CharField(help_text="Empty where stars alone were given.")
    lang = serializers.CharField(allow_null=True, help_text="ISO 639-1.")
    author = serializers.CharField()
    visited_on = serializers.DateField(allow_null=True)
    created_at = Moment()
    helpful_count = serializers.IntegerField(min_value=0)
    owner_reply = ReplyRecord(allow_null=True)
    source = serializers.CharField()  # type: ignore[assignment]  # a name of the contract


class ReviewSummaryRecord(serializers.Serializer[Any]):
    """All reviews in figures."""

    rating = serializers.FloatField(allow_null=True, min_value=1, max_value=5, help_text="Stars.")
    count = serializers.IntegerField(min_value=1)
    distribution = Counts(help_text="How many gave five stars (key `5`) to one (key `1`).")
    by_lang = Counts(help_text="How many wrote in a language, by ISO 639-1; those with stars alone are left out.")
    with_reply = serializers.IntegerField(min_value=0)


class ReviewsRecord(serializers.Serializer[Any]):
    """What guests wrote."""

    summary = ReviewSummaryRecord()
    items = serializers.ListField(child=ReviewRecord(), max_length=NEWEST, help_text="The newest.")


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
    entries = serializers.ListField(child=AroundRecord(), max_length=MOST, help_text="The nearest first.")


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
    start = serializers.RegexField("^([01][0-9]|2[0-3]):[0-5][0-9]$")
    until = serializers.RegexField(
        "^([01][0-9]|2[0-3]):[0-5][0-9]$", allow_null=True, help_text="Null where only the beginning is known."
    )
    basis = serializers.ListField(child=serializers.ChoiceField(choices=["reviews", "hours", "offers"]))
    citations = Citations(max_length=MOST_CITED)


class BestTimeRecord(serializers.Serializer[Any]):
    """When to go."""

    text = serializers.CharField()
    windows = WindowRecord(many=True)
    basis = serializers.ListField(
        child=serializers.ChoiceField(choices=["reviews", "hours", "offers"]), help_text="What it rests on."
    )
    citations = Citations()


class MentionedRecord(serializers.Serializer[Any]):
    """What several reviews mention."""

    name = serializers.CharField()
    mentions = serializers.IntegerField(min_value=1, help_text="Reviews that mention it.")
    positive_share = serializers.FloatField(min_value=0, max_value=1, help_text="Of these, who are pleased.")
    citations = Citations(max_length=MOST_CITED)


class AspectRecord(MentionedRecord):
    """A side of the place that several reviews mention."""

    name = serializers.ChoiceField(choices=ASPECTS)  # type: ignore[assignment]  # narrower than a dish's


class WatchOutRecord(serializers.Serializer[Any]):
    """A complaint that several reviews share."""

    text = serializers.CharField()
    mentions = serializers.IntegerField(min_value=1)
    citations = Citations(max_length=MOST_CITED)


class InsightRecord(serializers.Serializer[Any]):
    """What the insight is made of; every claim cites the reviews that carry it."""

    summary = serializers.CharField(max_length=LONGEST, help_text="The same as `ai_insight`.")
    best_time = BestTimeRecord(allow_null=True)
    dishes = MentionedRecord(many=True)
    aspects = AspectRecord(many=True)
    watch_outs = WatchOutRecord(many=True)
    review_count = serializers.IntegerField(min_value=5, help_text="Reviews that it was written from.")
    reviews_through = Moment(help_text="The newest of them.")
    generated_at = Moment()
    model = serializers.CharField(help_text="What wrote it, and in which version.")
    stale = serializers.BooleanField(help_text="Whether it will be written anew, as much has changed since.")
    disclosure = serializers.CharField(help_text="How it was made, and what was not read.")
