"""Actions of staff on who a restaurant is: another slug, one with another, or none any more."""

from collections.abc import Callable

from django.contrib import admin, messages
from django.db.models import QuerySet
from django.http import HttpRequest, HttpResponse
from django.utils import timezone

from catalogue import places
from catalogue.models import Restaurant
from framework.admin.action_confirmation import ask
from framework.errors import Refusal

# One at a time, or the two that are one.
PAIR = 2


class ChangesIdentity(admin.ModelAdmin[Restaurant]):
    """Ask, with what will happen, and then do it."""

    def has_change_permission(self, request: HttpRequest, obj: Restaurant | None = None) -> bool:
        """Who is merged or erased stays so, as it is."""
        if obj is not None and (obj.merged_into_id or obj.erased_at):
            return False
        return super().has_change_permission(request, obj)

    def has_erase_permission(self, request: HttpRequest) -> bool:
        """Who may delete at all: `has_delete_permission` is nobody's."""
        return request.user.has_perm("catalogue.delete_restaurant")

    @admin.action(description="Give the selected restaurant another slug", permissions=["change"])
    def rename(self, request: HttpRequest, queryset: QuerySet[Restaurant]) -> HttpResponse | None:
        """Ask for the slug, then give it."""

        def do(chosen: list[Restaurant]) -> str:
            slug = request.POST.get("slug", "").strip()
            places.rename(chosen[0], slug, actor=f"staff:{request.user.pk}", now=timezone.now())
            return f"{chosen[0].name} is found as {slug} now."

        return self.asked(request, queryset, "rename", "Another slug?", do, count=1)

    @admin.action(description="Merge the two selected restaurants", permissions=["change"])
    def merge(self, request: HttpRequest, queryset: QuerySet[Restaurant]) -> HttpResponse | None:
        """Ask which one stays, then merge the other into it."""

        def do(chosen: list[Restaurant]) -> str:
            kept = [one for one in chosen if str(one.pk) == request.POST.get("kept")]
            lost = [one for one in chosen if one not in kept]
            if len(kept) != 1:
                raise places.CannotMerge("Choose the one that stays.")
            places.merge(lost[0], kept[0], actor=f"staff:{request.user.pk}", now=timezone.now())
            return f"{lost[0].slug} is {kept[0].slug} now."

        return self.asked(request, queryset, "merge", "Merge these two?", do, count=PAIR)

    @admin.action(description="Erase the selected restaurant for good", permissions=["erase"])
    def erase(self, request: HttpRequest, queryset: QuerySet[Restaurant]) -> HttpResponse | None:
        """Ask, then erase."""

        def do(chosen: list[Restaurant]) -> str:
            places.erase(chosen[0], actor=f"staff:{request.user.pk}", now=timezone.now())
            return f"{chosen[0].slug} is erased."

        return self.asked(request, queryset, "erase", "Erase for good?", do, count=1)

    def asked(
        self,
        request: HttpRequest,
        queryset: QuerySet[Restaurant],
        action: str,
        title: str,
        do: Callable[[list[Restaurant]], str],
        *,
        count: int,
    ) -> HttpResponse | None:
        """Show what would happen; when that was confirmed, do it and say so, or why not."""
        chosen = list(queryset.order_by("pk")[: count + 1])
        if len(chosen) != count:
            self.message_user(request, f"Select {'one restaurant' if count == 1 else 'two'}.", messages.ERROR)
            return None
        if "confirmed" in request.POST:
            try:
                self.message_user(request, do(chosen), messages.SUCCESS)
            except Refusal as refusal:
                self.message_user(request, refusal.message, messages.ERROR)
            return None
        return ask(self, request, "catalogue/confirm_place_action.html", title=title, action=action, chosen=chosen)
