"""Dictionaries in the back office: markets, holidays, cuisines, attributes and sources."""

import re
from collections.abc import Iterable
from functools import partial
from typing import Any

from django.contrib import admin
from django.db import transaction
from django.db.models import QuerySet
from django.forms import ModelForm
from django.http import HttpRequest

from catalogue.hours import holidays
from catalogue.models import Attribute, Cuisine, Holiday, Market, Source
from catalogue.tasks import enqueue_open_intervals, enqueue_rendering
from framework.admin.large_tables import LargeTableAdmin


@admin.register(Market)
class MarketAdmin(admin.ModelAdmin[Market]):
    """The cities that the catalogue covers."""

    list_display = ["name", "slug", "country", "timezone", "currency", "radius_m"]
    search_fields = ["name", "slug"]
    ordering = ["name"]

    def save_model(self, request: HttpRequest, obj: Market, form: ModelForm[Market], change: bool) -> None:
        """Re-render the market's restaurants when the time zone has changed."""
        super().save_model(request, obj, form, change)
        if change and "timezone" in form.changed_data:
            transaction.on_commit(partial(enqueue_rendering, market=obj.pk))


@admin.register(Cuisine)
class CuisineAdmin(admin.ModelAdmin[Cuisine]):
    """Cuisines."""

    list_display = ["label", "slug"]
    search_fields = ["label", "slug"]
    ordering = ["slug"]

    def save_model(self, request: HttpRequest, obj: Cuisine, form: ModelForm[Cuisine], change: bool) -> None:
        """Re-render the restaurants of the cuisine when the label has changed."""
        super().save_model(request, obj, form, change)
        if change and "label" in form.changed_data:
            transaction.on_commit(partial(enqueue_rendering, cuisine=obj.pk))


@admin.register(Attribute)
class AttributeAdmin(admin.ModelAdmin[Attribute]):
    """The attributes by which clients can filter."""

    list_display = ["label", "key", "kind", "values"]
    list_filter = ["kind"]
    search_fields = ["label", "key"]
    ordering = ["key"]


class YearFilter(admin.SimpleListFilter):
    """The years that have holidays."""

    title = "year"
    parameter_name = "year"

    def lookups(self, request: HttpRequest, model_admin: Any) -> list[tuple[str, str]]:
        years = Holiday.objects.dates("date", "year", order="DESC")
        return [(str(day.year), str(day.year)) for day in years]

    def queryset(self, request: HttpRequest, queryset: Any) -> Any:
        year = self.value() or ""
        return queryset.filter(date__year=int(year)) if re.fullmatch("[1-9][0-9]{3}", year) else queryset


@admin.register(Holiday)
class HolidayAdmin(LargeTableAdmin):
    """Public holidays. The calendars add those of the coming years.

    Exclude a day instead of deleting it: the calendars would add a deleted day again.
    """

    list_display = ["date", "name", "market", "is_struck"]
    list_editable = ["is_struck"]
    list_select_related = ["market"]
    list_filter = ["market", YearFilter, "is_struck"]
    empty_hint = "A nightly task adds the holidays of this year and the next two."
    search_fields = ["name"]
    ordering = ["date", "market"]

    def save_model(self, request: HttpRequest, obj: Holiday, form: ModelForm[Holiday], change: bool) -> None:
        """Recalculate the opening hours that depend on holidays."""
        super().save_model(request, obj, form, change)
        recalculate_hours({obj.market_id, form.initial.get("market", obj.market_id)})

    def delete_model(self, request: HttpRequest, obj: Holiday) -> None:
        """Recalculate the opening hours that depend on holidays."""
        super().delete_model(request, obj)
        recalculate_hours({obj.market_id})

    def delete_queryset(self, request: HttpRequest, queryset: QuerySet[Holiday]) -> None:
        """Recalculate the opening hours that depend on holidays."""
        with transaction.atomic():
            markets = set(queryset.order_by().values_list("market", flat=True).distinct())
            super().delete_queryset(request, queryset)
            recalculate_hours(markets)


def recalculate_hours(markets: Iterable[str]) -> None:
    """Call it in the transaction that changes the holidays of these markets."""
    for market in sorted(markets):
        holidays.mark_hours_outdated(market)
    transaction.on_commit(enqueue_open_intervals)


@admin.register(Source)
class SourceAdmin(admin.ModelAdmin[Source]):
    """Data sources and their licences."""

    list_display = ["name", "key", "license", "attribution"]
    search_fields = ["name", "key"]
    ordering = ["key"]

    def save_model(self, request: HttpRequest, obj: Source, form: ModelForm[Source], change: bool) -> None:
        """Re-render the records of the source when its licence or attribution has changed."""
        super().save_model(request, obj, form, change)
        if change and {"license", "attribution"}.intersection(form.changed_data):
            transaction.on_commit(partial(enqueue_rendering, source=obj.pk))
