"""Admin actions on the identity of restaurants: change the slug, merge and erase."""

from collections.abc import Callable

from django.contrib import admin, messages
from django.db.models import QuerySet
from django.http import HttpRequest, HttpResponse
from django.utils import timezone

from catalogue import places
from catalogue.models import Restaurant
from framework.admin.action_confirmation import render_confirmation
from framework.errors import ApiError

# A merge needs exactly two restaurants.
PAIR = 2


class IdentityActions(admin.ModelAdmin[Restaurant]):
    """Adds the identity actions, each with a confirmation page."""

    def has_change_permission(self, request: HttpRequest, obj: Restaurant | None = None) -> bool:
        if obj is not None and (obj.merged_into_id or obj.erased_at):
            return False
        return super().has_change_permission(request, obj)

    def has_erase_permission(self, request: HttpRequest) -> bool:
        return request.user.has_perm("catalogue.delete_restaurant")

    @admin.action(description="Change the slug of the selected restaurant", permissions=["change"])
    def rename(self, request: HttpRequest, queryset: QuerySet[Restaurant]) -> HttpResponse | None:
        def do(chosen: list[Restaurant]) -> str:
            slug = request.POST.get("slug", "").strip()
            places.rename(chosen[0], slug, actor=f"staff:{request.user.pk}", now=timezone.now())
            return f"The slug of {chosen[0].name} is now {slug}."

        return self.confirm_and_run(request, queryset, "rename", "Change the slug?", do, count=1)

    @admin.action(description="Merge the two selected restaurants", permissions=["change"])
    def merge(self, request: HttpRequest, queryset: QuerySet[Restaurant]) -> HttpResponse | None:
        def do(chosen: list[Restaurant]) -> str:
            survivors = [row for row in chosen if str(row.pk) == request.POST.get("survivor")]
            losers = [row for row in chosen if row not in survivors]
            if len(survivors) != 1:
                raise places.CannotMerge("Select the restaurant to keep.")
            places.merge(losers[0], survivors[0], actor=f"staff:{request.user.pk}", now=timezone.now())
            return f"{losers[0].slug} was merged into {survivors[0].slug}."

        return self.confirm_and_run(request, queryset, "merge", "Merge these restaurants?", do, count=PAIR)

    @admin.action(description="Erase the selected restaurant permanently", permissions=["erase"])
    def erase(self, request: HttpRequest, queryset: QuerySet[Restaurant]) -> HttpResponse | None:
        def do(chosen: list[Restaurant]) -> str:
            places.erase(chosen[0], actor=f"staff:{request.user.pk}", now=timezone.now())
            return f"{chosen[0].slug} was erased."

        return self.confirm_and_run(request, queryset, "erase", "Erase permanently?", do, count=1)

    def confirm_and_run(
        self,
        request: HttpRequest,
        queryset: QuerySet[Restaurant],
        action: str,
        title: str,
        do: Callable[[list[Restaurant]], str],
        *,
        count: int,
    ) -> HttpResponse | None:
        """Show the confirmation page; after confirmation run the action and add its message or its error."""
        chosen = list(queryset.order_by("pk")[: count + 1])
        if len(chosen) != count:
            number = "one restaurant" if count == 1 else "two restaurants"
            self.message_user(request, f"Select {number}.", messages.ERROR)
            return None
        if "confirmed" in request.POST:
            try:
                self.message_user(request, do(chosen), messages.SUCCESS)
            except ApiError as refusal:
                self.message_user(request, refusal.message, messages.ERROR)
            return None
        template = "catalogue/confirm_place_action.html"
        return render_confirmation(self, request, template, title=title, action=action, chosen=chosen)
