"""Landmarks in the back office."""

from typing import Any

from django.contrib import admin
from django.db.models import QuerySet
from django.http import HttpRequest

from catalogue.admin.restaurants.filters import fold
from catalogue.models import (
    Landmark,
    LandmarkName,
)
from framework.admin.large_tables import LargeTableAdmin


class LandmarkNameInline(admin.TabularInline[LandmarkName, Landmark]):
    """All names by which a landmark can be found."""

    model = LandmarkName
    extra = 1
    readonly_fields = ["folded"]


@admin.register(Landmark)
class LandmarkAdmin(LargeTableAdmin):
    """The places that the search parameter `near` accepts."""

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

    def get_search_results(
        self, request: HttpRequest, queryset: QuerySet[Landmark], search_term: str
    ) -> tuple[QuerySet[Landmark], bool]:
        term = search_term.strip()
        if not term:
            return queryset, False
        named = LandmarkName.objects.filter(folded__contains=fold(term)).values("landmark")
        return queryset.filter(pk__in=named), False


@admin.register(LandmarkName)
class LandmarkNameAdmin(LargeTableAdmin):
    """Names of landmarks."""

    list_display = ["name", "landmark", "folded"]
    list_select_related = ["landmark"]
    search_fields = ["folded__startswith"]
    search_help_text = "Beginning of the name, in lower case and without accents"
    autocomplete_fields = ["landmark"]
    readonly_fields = ["folded"]
