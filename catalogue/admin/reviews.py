"""Reviews, for staff."""

from typing import Any

from django import forms
from django.contrib import admin
from django.http import HttpRequest
from django.utils import timezone

from catalogue.history import publish
from catalogue.models import Review
from catalogue.reviews import aggregates
from framework.admin.large_tables import LargeTableAdmin


class ReviewForm(forms.ModelForm[Review]):
    """A review; an empty reply is none, and a reply has its moment."""

    def clean_owner_reply(self) -> str | None:
        """None for an empty box."""
        return self.cleaned_data["owner_reply"] or None

    def clean(self) -> dict[str, Any]:
        """A reply and its moment come and go together."""
        cleaned: dict[str, Any] = super().clean() or self.cleaned_data
        if (cleaned.get("owner_reply") is None) != (cleaned.get("owner_replied_at") is None):
            raise forms.ValidationError("A reply has its moment, and a moment its reply.")
        return cleaned


@admin.register(Review)
class ReviewAdmin(LargeTableAdmin):
    """Reviews. Their words may be mended; stars and number belong to the restaurant's rating."""

    form = ReviewForm
    list_display = ["author", "stars", "restaurant", "lang", "source", "created_at"]
    list_select_related = ["restaurant", "source"]
    search_fields = ["restaurant__slug__exact"]
    search_help_text = "The slug of the restaurant, whole"
    readonly_fields = ["restaurant", "stars", "source", "helpful_count", "photo_count", "visited_on", "created_at"]
    fields = [
        "restaurant",
        ("stars", "author", "lang"),
        "text",
        ("owner_reply", "owner_replied_at"),
        ("visited_on", "helpful_count", "photo_count", "source", "created_at"),
    ]

    def save_model(self, request: HttpRequest, obj: Review, form: Any, change: bool) -> None:
        """Write only what was changed, for imports write the same rows; languages and replies are counted anew."""
        if form.changed_data:
            publish.by(f"staff:{request.user.pk}")
            obj.save(update_fields=form.changed_data)
            aggregates.restaurants([obj.restaurant_id], now=timezone.now())

    def has_add_permission(self, request: HttpRequest) -> bool:
        """Reviews come from their sources."""
        return False

    def has_delete_permission(self, request: HttpRequest, obj: Review | None = None) -> bool:
        """The rating counts it."""
        return False
