"""Webhook endpoints, deliveries and events in the back office."""

import json
from collections.abc import Iterable
from datetime import datetime, timedelta
from typing import Any, ClassVar

from django import forms
from django.contrib import admin, messages
from django.contrib.admin.widgets import AdminURLFieldWidget
from django.db.models import Count, IntegerField, OuterRef, Q, QuerySet, Subquery
from django.forms import ModelForm
from django.http import HttpRequest
from django.urls import reverse
from django.utils import timezone
from django.utils.html import format_html, format_html_join
from django.utils.safestring import SafeString

from accounts.admin.assignments import ASSIGNMENT_ACTIONS, AssignableAdmin, AssigneeFilter
from accounts.admin.row_history import RowHistoryAdmin
from accounts.api_keys.authentication import get_staff_actor
from accounts.models import Event, EventType, Venue, WebhookDelivery, WebhookEndpoint
from accounts.webhooks import endpoints, http_client, signing_secrets, ssrf_guard
from framework.admin.action_confirmation import confirmed_action
from framework.admin.badges import COLOURS, badge, badge_column, short_id
from framework.admin.domain_error_forms import DomainErrorAdmin, DomainErrorForm
from framework.admin.pending_counts import PendingCount
from framework.admin.read_only import ReadOnlyAdmin
from framework.encryption import CannotDecrypt
from framework.forms.domain_errors import errors_as_messages

DisabledReason = WebhookEndpoint.DisabledReason
EDITABLE = ["venue", "url", "description", "types"]
READ_ONLY = [
    *("public_id", "state", "failing_since", "old_secret_until", "created_at", "share_of_day", "last_deliveries"),
]


class EndpointForm(DomainErrorForm):
    """An endpoint, with a checkbox for each event type."""

    url = forms.CharField(
        label="URL",
        max_length=ssrf_guard.MAX_URL_LENGTH,
        widget=AdminURLFieldWidget,
        validators=[ssrf_guard.validate_url],
        help_text="https://hooks.example.com/…",
    )
    types = forms.TypedMultipleChoiceField(
        choices=[(kind, kind) for kind in EventType.values if kind != EventType.WEBHOOK_PING],
        widget=forms.CheckboxSelectMultiple,
        required=False,
        help_text="If none is selected: all events, including types added later",
    )

    class Meta:
        model = WebhookEndpoint
        fields = EDITABLE


@admin.register(WebhookEndpoint)
class WebhookEndpointAdmin(AssignableAdmin, RowHistoryAdmin, DomainErrorAdmin):
    """Endpoints. A secret is shown once, when it is created."""

    form = EndpointForm
    list_display = ["url", "state", "venue", "share_of_day", "event_types", "assignee"]
    list_select_related = ["venue"]
    list_filter = ["disabled_reason", AssigneeFilter]
    search_fields = ["url", "description", "venue__name__unaccent"]
    ordering = ["-pk"]
    list_per_page = 50
    show_full_result_count = False
    autocomplete_fields = ["venue"]
    actions = ["send_test_event", "rotate_secret", "enable", "disable", "resend_failed", *ASSIGNMENT_ACTIONS]

    def get_fields(self, request: HttpRequest, obj: WebhookEndpoint | None = None) -> Any:
        return [*EDITABLE, *READ_ONLY] if obj else EDITABLE

    def get_readonly_fields(self, request: HttpRequest, obj: WebhookEndpoint | None = None) -> list[str]:
        return ["venue", *READ_ONLY] if obj else []

    def get_queryset(self, request: HttpRequest) -> QuerySet[WebhookEndpoint]:
        rows = (
            WebhookDelivery.objects.filter(endpoint=OuterRef("pk"), created_at__gte=timezone.now() - timedelta(days=1))
            .order_by()
            .values("endpoint")
            .annotate(number=Count("*"))
        )
        ended = rows.exclude(state=WebhookDelivery.State.PENDING)
        arrived = rows.filter(state=WebhookDelivery.State.DELIVERED)
        shown: QuerySet[WebhookEndpoint] = super().get_queryset(request)
        return shown.annotate(
            ended=Subquery(ended.values("number"), output_field=IntegerField()),
            arrived=Subquery(arrived.values("number"), output_field=IntegerField()),
        )

    @admin.display(description="State")
    def state(self, endpoint: WebhookEndpoint) -> SafeString:
        if endpoint.disabled_at is not None:
            since = f"since {format_time(endpoint.disabled_at)}: {endpoint.get_disabled_reason_display()}"
            return format_html("{} {}", badge("disabled", "bad"), since)
        if endpoint.failing_since:
            return format_html("{} since {}", badge("failing", "bad"), format_time(endpoint.failing_since))
        return badge("slow responses", "warn") if endpoint.is_slow else badge("enabled", "good")

    @admin.display(description="Delivered in the last 24 h", empty_value="no deliveries")
    def share_of_day(self, endpoint: WebhookEndpoint) -> SafeString | None:
        ended: int | None = getattr(endpoint, "ended", None)
        if not ended:
            return None
        percent = 100 * (getattr(endpoint, "arrived", None) or 0) // ended
        return format_html('<meter max="100" value="{0}">{0} %</meter> {0} % of {1}', percent, ended)

    @admin.display(description="Events")
    def event_types(self, endpoint: WebhookEndpoint) -> str:
        return ", ".join(endpoint.types) or "all"

    @admin.display(description="Last deliveries")
    def last_deliveries(self, endpoint: WebhookEndpoint) -> SafeString | str:
        rows = endpoint.deliveries.select_related("event").order_by("-created_at", "-pk")[:10]
        return format_deliveries(rows) or "none yet"

    def save_model(
        self, request: HttpRequest, obj: WebhookEndpoint, form: ModelForm[WebhookEndpoint], change: bool
    ) -> None:
        if change:
            endpoints.update(obj, url=obj.url, types=obj.types, description=obj.description)
            return
        created, secret = endpoints.create(obj.venue, url=obj.url, types=obj.types, description=obj.description)
        # The admin's log entry and redirect need the stored row.
        obj.__dict__.update(created.__dict__)
        self.message_user(request, f"The secret (shown only once): {secret}", messages.WARNING)

    def get_deleted_objects(
        self, objs: Any, request: HttpRequest
    ) -> tuple[list[str], dict[str, int], set[str], list[str]]:
        """List the endpoints, and count their deliveries: there may be millions."""
        rows = list(objs)
        number = WebhookDelivery.objects.filter(endpoint__in=[row.pk for row in rows]).count()
        names = [f"Webhook endpoint {row.url} of {row.venue}" for row in rows]
        return names, {"webhook endpoints": len(rows), "webhook deliveries": number}, set(), []

    def delete_model(self, request: HttpRequest, obj: WebhookEndpoint) -> None:
        endpoints.delete(obj)

    def delete_queryset(self, request: HttpRequest, queryset: QuerySet[WebhookEndpoint]) -> None:
        for endpoint in queryset:
            endpoints.delete(endpoint)

    @confirmed_action(
        "Send a test event",
        message="Each endpoint gets one event of the type webhook.ping.",
        confirm_label="Send a test event",
    )
    def send_test_event(self, request: HttpRequest, queryset: QuerySet[WebhookEndpoint]) -> None:
        """Send `webhook.ping` to each."""
        for endpoint in queryset:
            with errors_as_messages(request, f"{endpoint}: "):
                endpoints.send_test_event(endpoint, actor=get_staff_actor(request), now=endpoint.venue.now())
                self.message_user(request, f"A test event is being sent to {endpoint}.", messages.SUCCESS)

    @confirmed_action(
        "Rotate the secret",
        message="Each endpoint gets a new secret, shown once. Deliveries are signed with both secrets for 24 hours.",
        confirm_label="Rotate secrets",
    )
    def rotate_secret(self, request: HttpRequest, queryset: QuerySet[WebhookEndpoint]) -> None:
        """Rotate each secret and show it once."""
        for endpoint in queryset:
            with errors_as_messages(request, f"{endpoint}: "):
                secret = endpoints.rotate_secret(endpoint, now=timezone.now())
                text = f"The new secret of {endpoint} (shown only once): {secret} The old one is valid for 24 hours."
                self.message_user(request, text, messages.WARNING)

    @confirmed_action(
        "Enable",
        message="Deliveries to these endpoints start again, with the events that occur from now on.",
        confirm_label="Enable",
        applies_to=lambda endpoints: endpoints.exclude(disabled_at=None),
    )
    def enable(self, request: HttpRequest, queryset: QuerySet[WebhookEndpoint]) -> None:
        """Enable the disabled endpoints."""
        number = sum(endpoints.enable(endpoint) for endpoint in queryset)
        self.message_user(request, f"{number} enabled.", messages.SUCCESS)

    @confirmed_action(
        "Disable, and fail pending deliveries",
        message="Deliveries to these endpoints stop, and pending deliveries are marked as failed.",
        confirm_label="Disable endpoints",
        applies_to=lambda endpoints: endpoints.filter(disabled_at=None),
    )
    def disable(self, request: HttpRequest, queryset: QuerySet[WebhookEndpoint]) -> None:
        """Disable the enabled endpoints."""
        number = sum(endpoints.disable(endpoint, now=endpoint.venue.now()) for endpoint in queryset)
        self.message_user(request, f"{number} disabled.", messages.SUCCESS)

    def pending_counts(self, request: HttpRequest) -> list[PendingCount]:
        """Endpoints that fail, or were disabled because they failed."""
        failing = WebhookEndpoint.objects.filter(
            Q(failing_since__isnull=False, disabled_at=None)
            | Q(disabled_reason__in=[DisabledReason.GONE, DisabledReason.FAILING])
        )
        address = reverse("admin:accounts_webhookendpoint_changelist")
        return [
            self.count_pending(request, "webhooks failing", failing, address, waits_since="failing_since", is_bad=True)
        ]

    @confirmed_action(
        "Resend failed deliveries of the last 7 days",
        message="The failed deliveries of these endpoints in the last 7 days are sent again.",
        confirm_label="Resend deliveries",
    )
    def resend_failed(self, request: HttpRequest, queryset: QuerySet[WebhookEndpoint]) -> None:
        """Resend the failed deliveries of each endpoint."""
        for endpoint in queryset:
            now = endpoint.venue.now()
            with errors_as_messages(request, f"{endpoint}: "):
                number = endpoints.resend_failed(endpoint, since=now - timedelta(days=7), now=now)
                self.message_user(request, f"{number} deliveries are being resent to {endpoint}.", messages.SUCCESS)


@admin.register(WebhookDelivery)
class WebhookDeliveryAdmin(ReadOnlyAdmin):
    """Webhook deliveries."""

    list_display = ["event__type", "state_badge", "endpoint", "last_status", "next_attempt_at", "created_at"]
    list_select_related = ["event", "endpoint"]
    list_filter = ["state"]
    search_fields = ["endpoint__url"]
    search_help_text = "Event id (evt_…), endpoint id (whk_…), or part of the URL"
    id_columns: ClassVar = {"evt": "event", "whk": "endpoint"}
    actions = ["resend"]
    fieldsets = [
        (
            None,
            {
                "fields": [
                    *("state_badge", "event", "endpoint", "last_status", "attempts", "last_attempt_at"),
                    *("next_attempt_at", "delivered_at", "last_error"),
                ]
            },
        ),
        ("Last response", {"fields": ["answer"]}),
        ("Request", {"fields": ["body", "headers", "leased_until"]}),
    ]

    def get_search_results(
        self, request: HttpRequest, queryset: QuerySet[WebhookDelivery], search_term: str
    ) -> tuple[QuerySet[WebhookDelivery], bool]:
        term = search_term.strip()
        if not term or term.startswith(tuple(f"{prefix}_" for prefix in self.id_columns)):
            return super().get_search_results(request, queryset, term)
        found = WebhookEndpoint.objects.filter(url__icontains=term).values_list("pk", flat=True)[:100]
        return queryset.filter(endpoint__in=list(found)), False

    state_badge = badge_column("state", "State")

    @admin.display(description="Last response", empty_value="none")
    def answer(self, delivery: WebhookDelivery) -> SafeString | None:
        return format_html("<pre>{}</pre>", delivery.last_response) if delivery.last_response else None

    @admin.display(description="Headers if sent now")
    def headers(self, delivery: WebhookDelivery) -> SafeString:
        try:
            headers = http_client.build_headers(delivery.event, delivery.endpoint, now=timezone.now())
        except CannotDecrypt:
            return format_html("<p>{}</p>", f"The request cannot be signed: {signing_secrets.UNREADABLE}.")
        return format_html("<pre>{}</pre>", "\n".join(f"{name}: {value}" for name, value in headers.items()))

    @admin.display(description="Body")
    def body(self, delivery: WebhookDelivery) -> SafeString:
        return format_html('<pre class="wrapped">{}</pre>', http_client.render_body(delivery.event).decode())

    @confirmed_action(
        "Resend with all attempts",
        message="These deliveries are sent again, with all attempts. Those of disabled endpoints do not change.",
        confirm_label="Resend deliveries",
    )
    def resend(self, request: HttpRequest, queryset: QuerySet[WebhookDelivery]) -> None:
        """Resend each, and report those that are being sent or have a disabled endpoint."""
        for delivery in queryset.select_related("event", "endpoint__venue"):
            name = delivery.event.public_id
            with errors_as_messages(request, f"{name}: "):
                if endpoints.resend(delivery, now=delivery.endpoint.venue.now()):
                    self.message_user(request, f"{name} is being resent.", messages.SUCCESS)
                else:
                    self.message_user(request, f"{name} is being sent right now.", messages.ERROR)


@admin.register(Event)
class EventAdmin(ReadOnlyAdmin):
    """Events of venues and accounts."""

    list_display = ["short_id", "type", "where", "actor", "created_at"]
    list_select_related = ["venue", "account"]
    list_filter = ["type"]
    search_fields = ["venue__name"]
    search_help_text = (
        "Id of an event, order, reservation or export (evt_…, ord_…, res_…, ex_…), or part of the venue's name"
    )
    id_columns: ClassVar = dict.fromkeys(("ord", "res", "ex"), "subject")
    fields = ["public_id", "type", "where", "actor", "created_at", "content", "deliveries"]

    def get_search_results(
        self, request: HttpRequest, queryset: QuerySet[Event], search_term: str
    ) -> tuple[QuerySet[Event], bool]:
        term = search_term.strip()
        if not term or term.startswith(("evt_", *(f"{prefix}_" for prefix in self.id_columns))):
            return super().get_search_results(request, queryset, term)
        venues = Venue.objects.filter(name__unaccent__icontains=term)
        return queryset.filter(venue__in=list(venues.values_list("pk", flat=True)[:100])), False

    @admin.display(description="Event")
    def short_id(self, event: Event) -> SafeString:
        return short_id(event.public_id)

    @admin.display(description="Venue or account")
    def where(self, event: Event) -> str:
        return str(event.venue) if event.venue else f"{event.account} (account)"

    @admin.display(description="Record")
    def content(self, event: Event) -> SafeString:
        return format_html("<pre>{}</pre>", json.dumps(event.record, indent=2, ensure_ascii=False))

    @admin.display(description="Deliveries")
    def deliveries(self, event: Event) -> SafeString | str:
        rows = event.deliveries.select_related("endpoint", "event").order_by("pk")[:100]
        return format_deliveries(rows) or "none"


def format_deliveries(rows: Iterable[WebhookDelivery]) -> SafeString:
    """Return the deliveries, one per line with a link."""
    lines = (
        (
            reverse("admin:accounts_webhookdelivery_change", args=[row.pk]),
            *(format_time(row.created_at), row.event.type, badge(row.state, COLOURS.get(row.state, ""))),
            row.last_status or row.last_error,
        )
        for row in rows
    )
    return format_html_join("", '<div><a href="{}">{}</a> {} {} {}</div>', lines)


def format_time(at: datetime) -> str:
    """Return the time in UTC."""
    return f"{at:%Y-%m-%d %H:%M} UTC"
