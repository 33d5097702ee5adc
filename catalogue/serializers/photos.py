"""JSON of photos."""

from typing import Any

from drf_spectacular.utils import extend_schema_serializer
from rest_framework import serializers

from catalogue.models import Photo
from catalogue.photos import SIZES
from catalogue.serializers.shared import AttributionRecord
from framework.api.pagination.schema import CursorPageRecord, DateTimeField
from framework.public_ids import pattern


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

    data = PhotoRecord(many=True)  # type: ignore[assignment]  # a name of the contract
    pagination = CursorPageRecord()
    attribution = AttributionRecord(many=True, help_text="Show these lines with the data.")
