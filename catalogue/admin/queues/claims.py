"""Claims of restaurants in the back office: those that wait for staff, and verified ones, which staff can end."""

from functools import partial
from typing import Any, cast

from django.contrib import admin, messages
from django.contrib.admin.utils import flatten
from django.db import transaction
from django.db.models import QuerySet
from django.http import HttpRequest
from django.urls import reverse
from django.utils import timezone
from django.utils.html import format_html
from django.utils.safestring import SafeString

from accounts.admin.assignments import ASSIGNMENT_ACTIONS, AssigneeFilter
from accounts.models import Assignment, User
from catalogue.admin.queues.base import DefaultFilter, ReviewQueueAdmin
from catalogue.admin.restaurant_rows import RestaurantRowsAdmin
from catalogue.claims import commands
from catalogue.models import RestaurantClaim
from catalogue.tasks import enqueue_slot_generation
from framework.admin.action_confirmation import confirmed_action
from framework.errors import ApiError, InvalidRequest

State = RestaurantClaim.State


class ClaimStateFilter(DefaultFilter):
    """Those that wait for staff by default."""

    title = "state"
    parameter_name = "state__exact"

    def lookups(self, request: HttpRequest, model_admin: Any) -> list[tuple[str, str]]:
        others = [choice for choice in State.choices if choice[0] != State.OPEN]
        return [(State.OPEN.value, str(State.OPEN.label)), *others, ("all", "All")]

    def apply_choice(self, queryset: QuerySet[Any]) -> QuerySet[Any]:
        return queryset.filter(state=self.value())


@admin.register(RestaurantClaim)
class RestaurantClaimAdmin(RestaurantRowsAdmin, ReviewQueueAdmin):
    list_display = ["created_at", "state_badge", "place", "venue", "method", "assignee", "decided_by"]
    list_select_related = ["restaurant", "venue", "decided_by"]
    list_filter = [ClaimStateFilter, AssigneeFilter]
    empty_hint = "Owners claim restaurants on the dashboard, under Listing."
    ordering = ["created_at", "pk"]
    queue_label = "claims of restaurants"
    change_form_template = "catalogue/claim.html"
    actions = ["end", *ASSIGNMENT_ACTIONS]
    fields = [
        ("method", "state"),
        "place",
        "venue",
        "requested_by",
        "note",
        "address",
        "created_at",
        ("decided_at", "decided_by"),
        "reason",
    ]
    readonly_fields = flatten(fields)

    def get_queryset(self, request: HttpRequest) -> QuerySet[Any]:
        return super().get_queryset(request).select_related("restaurant__market", "venue__account", "requested_by")

    def submit_decision(self, request: HttpRequest, row: RestaurantClaim, verdict: str) -> Any:
        row.reason = request.POST.get("reason", "").strip()[:300]
        return super().submit_decision(request, row, verdict)

    def decide(self, request: HttpRequest, row: RestaurantClaim, verdict: str) -> str | None:
        staff, now = cast("User", request.user), timezone.now()
        if verdict == "approve":
            commands.approve(row, staff=staff, now=now)
            return f"{row.venue} was verified as {row.restaurant}."
        if verdict == "refuse":
            if not row.reason:
                raise InvalidRequest("Enter a reason. The claimant gets it by email.")
            commands.refuse(row, staff=staff, reason=row.reason, now=now)
            return f"The claim of {row.venue} was refused."
        return None

    def page_context(self, row: RestaurantClaim) -> dict[str, Any]:
        holder = row.restaurant.claims.filter(state=State.VERIFIED).exclude(pk=row.pk).select_related("venue").first()
        return {"subtitle": f"{row.venue}: {row.restaurant}", "claim": row, "holder": holder}

    @admin.display(description="Restaurant", ordering="restaurant")
    def place(self, claim: RestaurantClaim) -> SafeString:
        link = reverse("admin:catalogue_restaurant_change", args=[claim.restaurant_id])
        return format_html('<a href="{}">{}</a>', link, claim.restaurant.name)

    @confirmed_action(
        "End the selected claims",
        message="These venues no longer keep their restaurants. What they have stated stays.",
        confirm_label="End claims",
        applies_to=lambda claims: claims.filter(state__in=RestaurantClaim.CURRENT),
    )
    def end(self, request: HttpRequest, queryset: QuerySet[RestaurantClaim]) -> None:
        """What the venue has stated stays; undo it by the versions of the restaurant."""
        for claim in queryset.select_related("restaurant", "venue").order_by("pk"):
            try:
                commands.end_claim(claim, by=cast("User", request.user), reason="Ended by staff.", now=timezone.now())
            except ApiError as refusal:
                self.message_user(request, f"{claim.restaurant}: {refusal.message}", messages.ERROR)
                continue
            Assignment.objects.end(RestaurantClaim, [claim.pk])
            transaction.on_commit(partial(enqueue_slot_generation, claim.restaurant_id))
            self.message_user(request, f"{claim.venue} no longer keeps {claim.restaurant}.", messages.SUCCESS)
