"""Reference data in the back office: markets, holidays, dictionaries, landmarks, and sources with their imports."""

import re
from collections.abc import Iterable
from functools import partial
from typing import Any

from django import forms
from django.contrib import admin, messages
from django.db import transaction
from django.db.models import QuerySet, Value
from django.forms import ModelChoiceField, ModelForm, ValidationError
from django.http import HttpRequest, HttpResponse, HttpResponseRedirect
from django.urls import reverse
from django.utils import timezone

from catalogue.hours import holidays
from catalogue.markets import MarketPlan, add_market, plan_market
from catalogue.markets.commands import check_market
from catalogue.models import Attribute, Cuisine, Holiday, ImportRun, Landmark, LandmarkName, Market, Source
from catalogue.places import cuisine_merge
from catalogue.search.geocoding.landmarks import read_coordinates
from catalogue.tasks import (
    enqueue_cuisine_merge,
    enqueue_neighborhoods,
    enqueue_open_intervals,
    enqueue_rendering,
)
from framework.admin.badges import badge_column
from framework.admin.domain_error_forms import DomainErrorAdmin, DomainErrorForm
from framework.admin.large_tables import LargeTableAdmin
from framework.admin.read_only import ReadOnlyAdmin
from framework.db.text_search import fold
from framework.errors import ApiError

# Import runs count rows by what became of them.
COUNTERS = ("created", "merged", "changed", "unchanged", "skipped", "rejected", "incomplete", "queued", "closed")


class RerenderingAdmin(admin.ModelAdmin[Any]):
    """Re-renders the restaurants that show an entry when a field has changed that their records contain."""

    # The argument of enqueue_rendering, and the fields.
    entry = ""
    rendered_fields: frozenset[str] = frozenset()

    def save_model(self, request: HttpRequest, obj: Any, form: ModelForm[Any], change: bool) -> None:
        super().save_model(request, obj, form, change)
        if change and self.rendered_fields.intersection(form.changed_data):
            transaction.on_commit(partial(enqueue_rendering, **{self.entry: obj.pk}))


class MarketAddForm(DomainErrorForm):
    """The name of a city, from which the market follows; it can be edited afterwards."""

    city = forms.CharField(
        max_length=80,
        help_text="The time zone, currency, public holidays and the rest follow from it, and you can edit them on the"
        " next page. The name of a town with fewer than 100,000 inhabitants needs its location.",
    )
    country_code = forms.CharField(
        label="Country",
        max_length=2,
        required=False,
        help_text="Where there are several cities of that name: FR (ISO 3166-1)",
    )
    location = forms.CharField(
        max_length=60, required=False, help_text="The centre as latitude, longitude; empty: that of the city"
    )
    radius_km = forms.FloatField(
        label="Radius in km",
        min_value=0.1,
        max_value=500,
        required=False,
        help_text="Empty: by the number of inhabitants",
    )
    allows_overlap = forms.BooleanField(
        label="It may overlap another market",
        required=False,
        help_text="A place in both belongs to the nearest centre",
    )
    plan: MarketPlan

    class Meta:
        model = Market
        fields: tuple[str, ...] = ()

    def clean(self) -> dict[str, Any]:
        values = super().clean()
        if self.errors:
            return values
        at = read_coordinates(values["location"]) if values["location"] else None
        if values["location"] and at is None:
            self.add_error("location", "Enter a latitude and a longitude in degrees, such as 45.75, 4.85.")
            return values
        try:
            self.plan = plan_market(
                values["city"],
                now=timezone.now(),
                country=values["country_code"] or None,
                at=at,
                radius_m=round(values["radius_km"] * 1000) if values["radius_km"] else None,
            )
            existing = check_market(self.plan, allows_overlap=values["allows_overlap"])
        except ApiError as error:
            self.add_error("country_code" if error.param == "country" else "city", error.message)
            return values
        if existing:
            self.add_error("city", f"The market {existing.slug} exists already.")
        self.instance = self.plan.market
        return values


class MarketForm(DomainErrorForm):
    def clean_region(self) -> str:
        region: str = self.cleaned_data["region"]
        regions = holidays.list_regions(self.cleaned_data.get("country", ""))
        if region and region not in regions:
            if regions:
                raise forms.ValidationError(f"The regions with holidays of their own are {', '.join(regions)}.")
            raise forms.ValidationError("No region of the country has holidays of its own: leave it empty.")
        return region


@admin.register(Market)
class MarketAdmin(DomainErrorAdmin, RerenderingAdmin):
    """Markets. One is added by the name of its city; all that follows from it can be edited."""

    form = MarketForm
    list_display = ["name", "slug", "country", "timezone", "currency", "radius_m"]
    search_fields = ["name", "slug"]
    ordering = ["name"]
    entry = "market"
    rendered_fields = frozenset({"timezone"})
    fields = (
        *("name", "slug", "country", "region", "timezone", "currency", "calling_code"),
        *("latitude", "longitude", "radius_m"),
    )

    def get_fields(self, request: HttpRequest, obj: Market | None = None) -> Any:
        return super().get_fields(request, obj) if obj else list(MarketAddForm.base_fields)

    def get_form(self, request: HttpRequest, obj: Market | None = None, change: bool = False, **options: Any) -> Any:
        return super().get_form(request, obj, change, **options, **({} if obj else {"form": MarketAddForm}))

    def get_readonly_fields(self, request: HttpRequest, obj: Market | None = None) -> list[str]:
        """The slug is the primary key, in the addresses of searches: saving another one would add a second market."""
        return ["slug"] if obj else []

    def save_model(self, request: HttpRequest, obj: Market, form: Any, change: bool) -> None:
        if not change:
            added = add_market(form.plan, now=timezone.now(), allows_overlap=form.cleaned_data["allows_overlap"])
            transaction.on_commit(enqueue_neighborhoods)
            text = f"{added.holidays} public holidays were added"
            if added.landmarks:
                text += f"; {added.landmarks} landmarks that had no market belong to it now"
            messages.info(request, f"{text}.")
            return
        super().save_model(request, obj, form, change)
        if {"country", "region"}.intersection(form.changed_data):
            holidays.add_market_holidays(obj, now=timezone.now())
            transaction.on_commit(enqueue_open_intervals)

    def response_add(self, request: HttpRequest, obj: Market, post_url_continue: str | None = None) -> HttpResponse:
        """Show the new market, so that staff see what was found out."""
        response = super().response_add(request, obj, post_url_continue)
        is_plain = not {"_addanother", "_continue", "_popup"}.intersection(request.POST)
        return HttpResponseRedirect(reverse("admin:catalogue_market_change", args=[obj.pk])) if is_plain else response


class CuisineForm(ModelForm[Cuisine]):
    merge_into = ModelChoiceField(
        queryset=Cuisine.objects.order_by("slug"),
        required=False,
        label="Merge into",
        help_text="Its restaurants get this cuisine, and its slug and words become synonyms of it",
    )

    def clean_merge_into(self) -> Cuisine | None:
        into: Cuisine | None = self.cleaned_data["merge_into"]
        if into:
            try:
                cuisine_merge.check_merge(self.instance.pk, into=into.pk)
            except cuisine_merge.CannotMergeCuisine as error:
                raise ValidationError(error.message) from error
        return into


@admin.register(Cuisine)
class CuisineAdmin(RerenderingAdmin):
    form = CuisineForm
    list_display = ["label", "slug", "parent", "synonyms"]
    list_select_related = ["parent"]
    search_fields = ["label", "slug", "synonyms"]
    autocomplete_fields = ["parent"]
    ordering = ["slug"]
    entry = "cuisine"
    rendered_fields = frozenset({"label"})

    def save_model(self, request: HttpRequest, obj: Cuisine, form: ModelForm[Cuisine], change: bool) -> None:
        super().save_model(request, obj, form, change)
        if into := form.cleaned_data.get("merge_into"):
            merge = {"loser": obj.pk, "into": into.pk, "actor": f"staff:{request.user.pk}"}
            transaction.on_commit(partial(enqueue_cuisine_merge, **merge))


@admin.register(Attribute)
class AttributeAdmin(admin.ModelAdmin[Attribute]):
    list_display = ["label", "key", "kind", "values"]
    list_filter = ["kind"]
    search_fields = ["label", "key"]
    ordering = ["key"]


class YearFilter(admin.SimpleListFilter):
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
        super().delete_model(request, obj)
        recalculate_hours({obj.market_id})

    def delete_queryset(self, request: HttpRequest, queryset: QuerySet[Holiday]) -> None:
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
class SourceAdmin(RerenderingAdmin):
    list_display = ["name", "key", "license", "attribution", "rank"]
    search_fields = ["name", "key"]
    ordering = ["key"]
    entry = "source"
    rendered_fields = frozenset({"license", "attribution"})


class LandmarkNameInline(admin.TabularInline[LandmarkName, Landmark]):
    model = LandmarkName
    extra = 1
    readonly_fields = ["folded"]


@admin.register(Landmark)
class LandmarkAdmin(LargeTableAdmin):
    list_display = ["name", "kind", "market", "prominence", "wikidata", "source"]
    list_select_related = ["market", "source"]
    list_filter = ["kind", "market"]
    search_fields = ["name"]
    search_help_text = "Part of any of its names; case and accents are ignored"
    inlines = [LandmarkNameInline]

    def save_related(self, request: HttpRequest, form: Any, formsets: Any, change: bool) -> None:
        """Add the landmark's own name to its names, which are the only ones searched."""
        super().save_related(request, form, formsets, change)
        own = LandmarkName(landmark=form.instance, name=form.instance.name)
        LandmarkName.objects.bulk_create([own], ignore_conflicts=True)
        transaction.on_commit(enqueue_neighborhoods)

    def delete_model(self, request: HttpRequest, obj: Landmark) -> None:
        super().delete_model(request, obj)
        transaction.on_commit(enqueue_neighborhoods)

    def delete_queryset(self, request: HttpRequest, queryset: QuerySet[Landmark]) -> None:
        super().delete_queryset(request, queryset)
        transaction.on_commit(enqueue_neighborhoods)

    def get_search_results(
        self, request: HttpRequest, queryset: QuerySet[Landmark], search_term: str
    ) -> tuple[QuerySet[Landmark], bool]:
        term = search_term.strip()
        if not term:
            return queryset, False
        named = LandmarkName.objects.filter(folded__contains=fold(Value(term))).values("landmark")
        return queryset.filter(pk__in=named), False


@admin.register(LandmarkName)
class LandmarkNameAdmin(LargeTableAdmin):
    list_display = ["name", "landmark", "folded"]
    list_select_related = ["landmark"]
    search_fields = ["folded__startswith"]
    search_help_text = "Beginning of the name, in lower case and without accents"
    autocomplete_fields = ["landmark"]
    readonly_fields = ["folded"]


@admin.register(ImportRun)
class ImportRunAdmin(ReadOnlyAdmin):
    list_display = ["started_at", "state_badge", "source", "market", "rows", "forced"]
    state_badge = badge_column("state", "State")
    list_select_related = ["source", "market"]
    list_filter = ["state", "source"]
    search_fields = ["file"]
    empty_hint = "Each run of `manage.py catalogue_import` adds a row."

    @admin.display(description="Rows")
    def rows(self, run: ImportRun) -> str:
        counts = [f"{getattr(run, name):,} {name}" for name in COUNTERS if getattr(run, name)]
        return f"{run.read:,} read" + (f": {', '.join(counts)}" if counts else "")
