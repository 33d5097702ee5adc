"""Reviews in the back office."""

from collections.abc import Callable, Mapping
from typing import Any

from babel import Locale
from django import forms
from django.contrib import admin
from django.http import HttpRequest
from django.utils import timezone
from django.utils.html import format_html
from django.utils.safestring import SafeString, mark_safe
from django.utils.text import Truncator

from catalogue.admin.restaurant_rows import RestaurantRowsAdmin, restaurant_link
from catalogue.history import publish
from catalogue.models import Review
from catalogue.reviews import aggregates
from framework.admin.list_filters import option_filter
from framework.admin.read_only import ReadOnlyAdmin


def matching(**conditions: object) -> Callable[[Any], Any]:
    return lambda rows: rows.filter(**conditions)


# Fixed options: to read the values from the table would scan it.
STARS_FILTER = option_filter(
    "stars", "stars", {str(stars): (f"{stars} ★", matching(stars=stars)) for stars in range(5, 0, -1)}
)
LANGUAGE_NAMES: Mapping[str, str] = Locale("en").languages
LANGUAGE_FILTER = option_filter(
    "language",
    "lang",
    {code: (LANGUAGE_NAMES[code], matching(lang=code)) for code in ("en", "de", "fr", "es", "it", "da", "ja")},
)

NO_TEXT = mark_safe('<span class="quiet">No text</span>')


class ReviewForm(forms.ModelForm[Review]):
    def clean_owner_reply(self) -> str | None:
        return self.cleaned_data["owner_reply"] or None

    def clean(self) -> dict[str, Any]:
        cleaned: dict[str, Any] = super().clean() or self.cleaned_data
        if (cleaned.get("owner_reply") is None) != (cleaned.get("owner_replied_at") is None):
            raise forms.ValidationError("Enter both the reply and its time, or neither.")
        return cleaned


@admin.register(Review)
class ReviewAdmin(RestaurantRowsAdmin, ReadOnlyAdmin):
    """Reviews. Texts are editable; stars are not, because they are part of the restaurant's rating.

    Reviews are kept for the same reason.
    """

    form = ReviewForm
    list_display = ["beginning", "stars_shown", "place", "author", "language", "written"]
    ordering = ["-created_at"]
    sortable_by = ["written"]
    list_filter = [STARS_FILTER, LANGUAGE_FILTER, "source"]
    shows_first_filter = True
    list_select_related = ["restaurant", "source"]
    editable_fields = ("author", "lang", "text", "owner_reply", "owner_replied_at", "reply_locked")
    fields = [
        "restaurant",
        ("stars", "author", "lang"),
        "text",
        ("owner_reply", "owner_replied_at"),
        "reply_locked",
        ("visited_on", "helpful_count", "photo_count", "source", "created_at"),
    ]

    @admin.display(description="Review")
    def beginning(self, review: Review) -> str:
        return Truncator(review.text).chars(90) if review.text else NO_TEXT

    @admin.display(description="Stars")
    def stars_shown(self, review: Review) -> SafeString:
        return format_html(
            '<span class="stars" role="img" aria-label="{} of 5 stars">{}</span>',
            review.stars,
            "★" * review.stars + "☆" * (5 - review.stars),
        )

    @admin.display(description="Language")
    def language(self, review: Review) -> str:
        return LANGUAGE_NAMES.get(review.lang, review.lang)

    @admin.display(description="Written", ordering="created_at")
    def written(self, review: Review) -> str:
        return f"{review.created_at:%Y-%m-%d}"

    @admin.display(description="Restaurant")
    def place(self, review: Review) -> SafeString:
        return restaurant_link(review.restaurant)

    def save_model(self, request: HttpRequest, obj: Review, form: Any, change: bool) -> None:
        """Save only the changed fields, because imports write the same rows, and update the counts.

        Neither imports nor the owner undo a change of the reply.
        """
        changed = set(form.changed_data)
        if changed:
            publish.set_actor(f"staff:{request.user.pk}")
            if changed & {"owner_reply", "owner_replied_at"}:
                obj.keeps_reply = obj.reply_locked = True
                changed |= {"keeps_reply", "reply_locked"}
            obj.save(update_fields=changed)
            aggregates.update_restaurants([obj.restaurant_id], now=timezone.now())
