"""One restaurant: its record, and its opening hours on given days."""

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from rest_framework import serializers

from catalogue.field_groups import Record
from catalogue.field_groups.insights import REASONS
from catalogue.models import Restaurant
from catalogue.serializers.history import EntryRecord
from catalogue.serializers.paid_groups import ContextRecord, InsightRecord, PhotosRecord, ReviewsRecord
from catalogue.serializers.shared import COUNTRY, PHONE, SLUG, LocationRecord, OfferRecord, attribution_lines
from framework.api.fields import TimeField
from framework.api.pagination.schema import DateTimeField
from framework.api.renderers import JSONRenderer
from framework.public_ids import pattern
from orders.serializers import PublishedMenuRecord


class AddressRecord(serializers.Serializer[Any]):
    """A postal address."""

    line1 = serializers.CharField(allow_null=True)
    locality = serializers.CharField(allow_null=True)
    region = serializers.CharField(allow_null=True)
    postal_code = serializers.CharField(allow_null=True)
    country = serializers.RegexField(COUNTRY, help_text="ISO 3166-1 alpha-2.")
    formatted = serializers.CharField(allow_null=True, help_text="All of it in one line.")


class WeekMoment(serializers.Serializer[Any]):
    """A moment of the week on the restaurant's clock."""

    day = serializers.IntegerField(min_value=0, max_value=6, help_text="0 is Monday.")
    time = TimeField()

    def to_representation(self, instance: Any) -> Any:
        return instance


class PeriodRecord(serializers.Serializer[Any]):
    """A weekly opening; it may close on the day after."""

    kind = serializers.ChoiceField(
        choices=["regular", "open_end"],
        help_text="`open_end`: only the opening is promised, the close is an estimate.",
    )
    open = WeekMoment()
    close = WeekMoment()


class SpanRecord(serializers.Serializer[Any]):
    """An opening on a special day; a close that is not after its open lies on the next day."""

    open = TimeField()
    close = TimeField()

    def to_representation(self, instance: Any) -> Any:
        return instance


class SpecialDayRecord(serializers.Serializer[Any]):
    """Periods that replace the weekly ones that open on a date; closed without periods."""

    date = serializers.DateField()
    periods = SpanRecord(many=True)


class HoursRecord(serializers.Serializer[Any]):
    """Opening hours, and the state that they give now."""

    timezone = serializers.CharField(help_text="IANA name.")
    state = serializers.ChoiceField(choices=["open", "closed", "unknown"])
    open_now = serializers.BooleanField(allow_null=True, help_text="Null where the state is unknown.")
    next_change = DateTimeField(allow_null=True, help_text="When it opens or closes next.")
    periods = PeriodRecord(many=True)
    special_days = SpecialDayRecord(many=True)
    display = serializers.ListField(child=serializers.CharField(), help_text="Lines for people.")
    osm = serializers.CharField(allow_null=True, help_text="The opening_hours of OpenStreetMap they were read from.")


class OpenIntervalRecord(serializers.Serializer[Any]):
    """An open interval, in local time."""

    opens_at = DateTimeField()
    closes_at = DateTimeField()


class DatedExceptionRecord(serializers.Serializer[Any]):
    """A date whose periods replace the weekly ones that open on it; closed without periods."""

    date = serializers.DateField()
    name = serializers.CharField(allow_null=True, help_text="The name of the public holiday.")
    periods = SpanRecord(many=True)


class HolidayRecord(serializers.Serializer[Any]):
    """A public holiday of the market."""

    date = serializers.DateField()
    name = serializers.CharField()


class HoursForDatesRecord(serializers.Serializer[Any]):
    """The opening hours of some days; `spans` are merged, sorted and cut to these days."""

    slug = serializers.RegexField(SLUG)
    timezone = serializers.CharField(help_text="IANA name.")
    to = serializers.DateField(source="last")
    spans = OpenIntervalRecord(many=True, allow_null=True, help_text="Null if the hours are unknown.")
    special_days = DatedExceptionRecord(many=True, help_text="Dates that differ from the weekly periods.")
    holidays = HolidayRecord(
        many=True, help_text="Public holidays of the market. On one that is not a special day the weekly periods hold."
    )
    attribution = attribution_lines()

    def get_fields(self) -> dict[str, Any]:
        return {"from": serializers.DateField(source="first"), **super().get_fields()}


class SourceRecord(serializers.Serializer[Any]):
    """The record of a source."""

    source = serializers.CharField()  # type: ignore[assignment]  # a name of the contract
    record = serializers.CharField(help_text="The source's own id.")
    license = serializers.CharField(help_text="SPDX identifier.")
    updated_at = DateTimeField()
    fields = serializers.ListField(child=serializers.CharField(), help_text="The fields that come from it.")  # type: ignore[assignment]  # a name of the contract


class RestaurantRecord(serializers.Serializer[Any]):
    """A restaurant: its slug, its name and the groups that were asked for, each whole. What is not known is null.

    A group that was not asked for is absent; one without content is null, and costs nothing.
    """

    # The groups of free fields are rendered by catalogue/sql/restaurant_record.sql.
    ALWAYS = ("slug", "name")

    slug = serializers.RegexField(SLUG)
    name = serializers.CharField()
    id = serializers.RegexField(pattern("rst"))
    alt_names = serializers.ListField(child=serializers.CharField())
    status = serializers.ChoiceField(choices=Restaurant.Status.choices)
    market = serializers.RegexField(SLUG)
    neighborhood = serializers.CharField(allow_null=True)
    address = AddressRecord()
    location = LocationRecord(allow_null=True)
    phone = serializers.RegexField(PHONE, allow_null=True, help_text="E.164.")
    phone_verified = serializers.BooleanField(help_text="Confirmed by people or by two agreeing sources.")
    phone_verified_at = DateTimeField(allow_null=True)
    website = serializers.CharField(allow_null=True)
    menu_url = serializers.CharField(allow_null=True, help_text="Page with the menu.")
    description = serializers.CharField(
        allow_null=True, help_text="What the restaurant says about itself: a text of a third party."
    )
    rating = serializers.FloatField(allow_null=True, min_value=1, max_value=5, help_text="Stars.")
    review_count = serializers.IntegerField(min_value=0)
    price_level = serializers.IntegerField(allow_null=True, min_value=1, max_value=4)
    cuisine = serializers.CharField(allow_null=True, help_text="The label of the main cuisine.")
    cuisines = serializers.ListField(child=serializers.RegexField(SLUG), help_text="Slugs, the main one first.")
    hours = HoursRecord()
    attributes = serializers.DictField(help_text="Amenities by name, as the sources tell them.")
    flow_offer = OfferRecord(allow_null=True)
    external_ids = serializers.DictField(help_text="Ids that others have given it.")
    sources = SourceRecord(many=True)
    attribution = attribution_lines()
    verified_at = DateTimeField(allow_null=True)
    updated_at = DateTimeField()
    version = serializers.IntegerField(min_value=1)
    reviews = ReviewsRecord(allow_null=True, help_text="Group `reviews`.")
    photos = PhotosRecord(allow_null=True, help_text="Group `photos`.")
    context = ContextRecord(allow_null=True, help_text="Group `context`: what a walk reaches.")  # type: ignore[assignment]  # a name of the contract
    ai_insight = serializers.CharField(
        allow_null=True, max_length=600, help_text="Group `ai_insight`: what the reviews say, in a few sentences."
    )
    ai_insight_detail = InsightRecord(allow_null=True)
    ai_insight_reason = serializers.ChoiceField(
        choices=REASONS,
        allow_null=True,
        help_text="Why `ai_insight` is null: fewer than five reviews; nothing in the reviews that enough guests share;"
        " not written yet; waiting for our staff to approve it; withheld by our staff.",
    )
    menu = PublishedMenuRecord(
        allow_null=True, help_text="Group `menu`: the published menu with prices, of restaurants that have joined."
    )
    history = EntryRecord(many=True, allow_null=True, help_text="Group `history`: the newest ten versions.")

    def get_fields(self) -> dict[str, Any]:
        fields = super().get_fields()
        for name, field in fields.items():
            field.required = name in self.ALWAYS
        return fields

    def to_representation(self, instance: Mapping[str, Any]) -> dict[str, Any]:
        return {name: value for name, value in super().to_representation(instance).items() if name in instance}


# Made once: a serializer copies its fields at the first use, which takes longer than the query of a record.
OFFER_RECORD = OfferRecord()
# Field groups that return rendered values (decision 0064): the serializer only documents them.
RENDERED_GROUPS = {"slug", "name", "reviews", "photos", "context", "menu"}


def render_record(record: Record) -> bytes:
    """Render a RestaurantRecord; JSON of the database is copied without parsing."""
    values = record.values
    if not values.keys() <= RENDERED_GROUPS:
        values = RestaurantRecord(values).data
    if record.core is None:
        return JSONRenderer().render(values)
    core = record.core
    offer = OFFER_RECORD.to_representation(core.offer) if core.offer else None
    others = members({name: value for name, value in values.items() if name not in RestaurantRecord.ALWAYS})
    return b'{%b,"hours":{%b,%b},%b,"flow_offer":%b%b}' % (
        core.before.encode(),
        core.hours.encode(),
        members({"state": core.state.state, "open_now": core.state.open_now, "next_change": core.state.next_change}),
        core.after.encode(),
        JSONRenderer().render(offer) if offer else b"null",
        b"," + others if others else b"",
    )


def render_etag_content(record: Record) -> bytes | None:
    """Return the content for the ETag, without the cursors in `next`; None if the record has none."""
    stable = {
        name: {**part, "next": part["next"] and name}
        for name, part in record.values.items()
        if isinstance(part, Mapping) and "next" in part
    }
    return render_record(replace(record, values={**record.values, **stable})) if stable else None


def members(values: Mapping[str, Any]) -> bytes:
    """Render the members of a JSON object, without braces."""
    return JSONRenderer().render(values)[1:-1]
