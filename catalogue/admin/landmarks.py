"""Landmarks, for staff."""

from typing import Any

from django.contrib import admin
from django.db.models import QuerySet
from django.http import HttpRequest

from catalogue.admin.search import fold
from catalogue.models import (
    Landmark,
    LandmarkName,
)
from framework.admin.large_tables import LargeTableAdmin


class LandmarkNameInline(admin.TabularInline[LandmarkName, Landmark]):
    """All names of a landmark; it is found by none but these."""

    model = LandmarkName
    extra = 1
    readonly_fields = ["folded"]


@admin.register(Landmark)
class LandmarkAdmin(LargeTableAdmin):
    """The places that `near` understands."""

    list_display = ["name", "kind", "market", "prominence", "wikidata", "source"]
    list_select_related = ["market", "source"]
    list_filter = ["kind", "market"]
    search_fields = ["name"]
    search_help_text = "A part of any of its names, in any case and without accents"
    inlines = [LandmarkNameInline]

    def save_related(self, request: HttpRequest, form: Any, formsets: Any, change: bool) -> None:
        """Keep the landmark's own name among its names, for it is found by these alone."""
        super().save_related(request, form, formsets, change)
        own = LandmarkName(landmark=form.instance, name=form.instance.name)
        LandmarkName.objects.bulk_create([own], ignore_conflicts=True)

    def get_search_results(
        self, request: HttpRequest, queryset: QuerySet[Landmark], search_term: str
    ) -> tuple[QuerySet[Landmark], bool]:
        """Search by the trigram index over the folded names."""
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
    search_help_text = "The beginning of the name, in small letters and without accents"
    autocomplete_fields = ["landmark"]
    readonly_fields = ["folded"]
