"""API keys in the back office: issue, edit, rotate and revoke."""

from typing import Any

from django import forms
from django.contrib import admin, messages
from django.db.models import QuerySet
from django.http import HttpRequest, HttpResponse
from django.utils import timezone
from django.utils.html import format_html
from django.utils.safestring import SafeString

from accounts.admin.row_history import RowHistoryAdmin
from accounts.models import ApiKey, Scope
from accounts.models.api_keys import OVERLAPS, ApiKeys, default_scopes
from framework.admin.action_confirmation import render_rows_confirmation
from framework.admin.badges import COLOURS, badge
from framework.forms.domain_errors import errors_as_messages, errors_on_form
from framework.forms.optimistic_concurrency import ChangedFieldsAdmin, ChangedFieldsForm

OVERLAP_LABELS = ("no longer", "for an hour", "for a day", "for a week")


class KeyForm(ChangedFieldsForm):
    """An API key, with a checkbox for each scope."""

    scopes = forms.TypedMultipleChoiceField(
        choices=[(scope, scope) for scope in Scope.values],
        widget=forms.CheckboxSelectMultiple,
        initial=default_scopes,
        required=False,
        help_text="What the key may do. A webhook endpoint that it creates outlives it",
    )

    class Meta:
        model = ApiKey
        fields = ["venue", "name", "scopes", "allowance", "expires_at"]

    def clean(self) -> dict[str, Any]:
        values = super().clean()
        end = values.get("expires_at")
        is_new = self.instance._state.adding
        if is_new and end is not None and end <= timezone.now():
            self.add_error("expires_at", "This time is in the past.")
        elif not is_new and "expires_at" in self.changed_data and "expires_at" in values:
            with errors_on_form(self, "expires_at"):
                self.instance.check_expiry_not_extended(end)
        return values


class OverlapForm(forms.Form):
    """How long a rotated key keeps working."""

    overlap = forms.TypedChoiceField(
        label="The old keys still work",
        choices=[(str(number), label) for number, label in enumerate(OVERLAP_LABELS)],
        coerce=lambda number: OVERLAPS[int(number)],
        initial="2",
    )


@admin.register(ApiKey)
class ApiKeyAdmin(RowHistoryAdmin, ChangedFieldsAdmin):
    """API keys without their secrets. A new key is shown once, after it is saved."""

    form = KeyForm
    list_display = [
        *("name", "state", "venue", "masked", "scope_names", "allowance"),
        "last_used_at",
    ]
    list_select_related = ["venue"]
    search_fields = ["name", "start", "end", "venue__name__unaccent"]
    is_in_site_search = True
    ordering = ["-created_at", "id"]
    autocomplete_fields = ["venue"]
    fieldsets = [
        (None, {"fields": ["state", "venue", "masked", "last_used_at", "last_used_ip", "revoked_at"]}),
        ("Rights", {"fields": ["name", "scopes", "allowance", "has_data_access", "expires_at"]}),
        ("Record", {"classes": ["collapse"], "fields": ["public_id", "family", "created_at"]}),
    ]
    actions = ["rotate", "revoke", "revoke_families"]

    def get_readonly_fields(self, request: HttpRequest, obj: ApiKey | None = None) -> list[str]:
        """The venue is fixed, and history is read-only."""
        fixed = ["state", "masked", "public_id", "family", "created_at", "last_used_at", "last_used_ip", "revoked_at"]
        return [*(["venue"] if obj else []), "has_data_access", *fixed]

    def get_fieldsets(self, request: HttpRequest, obj: ApiKey | None = None) -> Any:
        return super().get_fieldsets(request, obj) if obj else [(None, {"fields": KeyForm.Meta.fields})]

    def get_queryset(self, request: HttpRequest) -> QuerySet[ApiKey]:
        """Leave out those of apps, which are no credentials."""
        return super().get_queryset(request).filter(app=None)

    @admin.display(description="key", ordering="start")
    def masked(self, key: ApiKey) -> SafeString:
        return format_html('<span class="id">{}</span>', key.masked)

    def state(self, key: ApiKey) -> SafeString:
        state = key.state(timezone.now())
        return badge(state, COLOURS.get(state, ""))

    @admin.display(description="scopes")
    def scope_names(self, key: ApiKey) -> str:
        if key.has_all_scopes:
            return "all"
        return "all except webhooks" if key.has_default_scopes else ", ".join(key.scopes) or "none"

    def save_model(self, request: HttpRequest, obj: ApiKey, form: KeyForm, change: bool) -> None:
        if change:
            super().save_model(request, obj, form, change)
            return
        created = ApiKey.create(
            obj.venue, name=obj.name, allowance=obj.allowance, scopes=obj.scopes, expires_at=obj.expires_at
        )
        # The admin's log entry and redirect need the stored row.
        obj.__dict__.update(created.row.__dict__)
        self.message_user(request, f"The API key (shown only once): {created.text}", messages.WARNING)

    def has_delete_permission(self, request: HttpRequest, obj: ApiKey | None = None) -> bool:
        """Keys are revoked, not deleted, to keep the audit trail."""
        return False

    def has_revoke_permission(self, request: HttpRequest) -> bool:
        """Editors of keys, and groups with the revoke permission."""
        return self.has_change_permission(request) or request.user.has_perm("accounts.revoke_apikey")

    @admin.action(description="Revoke the selected keys permanently", permissions=["revoke"])
    def revoke(self, request: HttpRequest, queryset: QuerySet[ApiKey]) -> HttpResponse | None:
        keys = ApiKey.objects.filter(pk__in=queryset.order_by().values("pk"))
        return self.revoke_confirmed(request, keys, action="revoke")

    @admin.action(description="Revoke the selected keys, their predecessors and replacements", permissions=["revoke"])
    def revoke_families(self, request: HttpRequest, queryset: QuerySet[ApiKey]) -> HttpResponse | None:
        keys = ApiKey.objects.filter(family__in=queryset.order_by().values("family"))
        return self.revoke_confirmed(request, keys, action="revoke_families")

    def revoke_confirmed(self, request: HttpRequest, keys: ApiKeys, *, action: str) -> HttpResponse | None:
        """Ask for confirmation, then revoke. Keys that were already revoked keep their time."""
        if "confirmed" in request.POST:
            self.message_user(request, f"{keys.revoke(now=timezone.now())} revoked.", messages.SUCCESS)
            return None
        return render_rows_confirmation(
            self,
            request,
            keys.filter(revoked_at=None).select_related("venue").order_by("created_at", "pk"),
            action=action,
            title="Revoke API keys?",
            message="Requests with these API keys will fail. This cannot be undone.",
            confirm_label="Revoke keys",
        )

    def has_rotate_permission(self, request: HttpRequest) -> bool:
        """Rotation changes one key and adds another."""
        return self.has_change_permission(request) and self.has_add_permission(request)

    @admin.action(description="Rotate the selected keys", permissions=["rotate"])
    def rotate(self, request: HttpRequest, queryset: QuerySet[ApiKey]) -> HttpResponse | None:
        """Ask for the overlap, then rotate each key and show the new ones once."""
        form = OverlapForm(request.POST if "confirmed" in request.POST else None)
        keys = queryset.select_related("venue").order_by("created_at", "pk")
        if not form.is_valid():
            return render_rows_confirmation(
                self,
                request,
                keys,
                action="rotate",
                title="Rotate API keys?",
                message="Each key gets a replacement with the same scopes. Both keys share one hourly rate limit.",
                confirm_label="Rotate keys",
                form=form,
            )
        for key in keys:
            with errors_as_messages(request):
                created = key.rotate(overlap=form.cleaned_data["overlap"], now=timezone.now())
                self.log_addition(request, created.row, f"Replaces {key.public_id}")
                message = f"Replacement of {key} (shown only once): {created.text}"
                self.message_user(request, message, messages.WARNING)
        return None
