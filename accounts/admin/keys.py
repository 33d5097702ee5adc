"""Where staff issue, change, replace and revoke API keys."""

from typing import Any

from django.contrib import admin, messages
from django.db.models import QuerySet
from django.forms import ModelForm
from django.http import HttpRequest
from django.utils import timezone

from accounts.models import ApiKey


@admin.register(ApiKey)
class ApiKeyAdmin(admin.ModelAdmin[ApiKey]):
    """API keys, without their secrets. A new one is shown once, after it is saved."""

    list_display = ["name", "venue", "start", "end", "allowance", "created_at", "expires_at", "revoked_at"]
    list_select_related = ["venue"]
    search_fields = ["name", "start", "end", "venue__name"]
    ordering = ["-created_at", "id"]
    autocomplete_fields = ["venue"]
    fields = ["venue", "name", "start", "end", "allowance", "created_at", "expires_at", "revoked_at"]
    actions = ["revoke"]

    def get_readonly_fields(self, request: HttpRequest, obj: ApiKey | None = None) -> list[str]:
        """A key stays with its venue; who it was and when it ended is history."""
        fixed = ["start", "end", "created_at", "revoked_at"]
        return ["venue", *fixed] if obj else fixed

    def save_model(self, request: HttpRequest, obj: ApiKey, form: ModelForm[ApiKey], change: bool) -> None:
        """Issue a new key, and show its text this once."""
        if change:
            super().save_model(request, obj, form, change)
            return
        issued = ApiKey.issue(obj.venue, name=obj.name, allowance=obj.allowance, expires_at=obj.expires_at)
        # What follows in the admin, its log and its redirect, is about the stored row.
        obj.__dict__.update(issued.row.__dict__)
        self.message_user(request, f"The key, shown only now: {issued.text}", messages.WARNING)

    def has_delete_permission(self, request: HttpRequest, obj: ApiKey | None = None) -> bool:
        """A key is revoked, not deleted: what it did stays explainable."""
        return False

    @admin.action(description="Revoke the selected keys, at once and for good")
    def revoke(self, request: HttpRequest, queryset: QuerySet[ApiKey]) -> None:
        """Revoke; keys that were revoked before keep their moment."""
        now = timezone.now()
        revoked = sum(key.revoke(now=now) for key in queryset)
        self.message_user(request, f"{revoked} revoked.", messages.SUCCESS)

    def get_actions(self, request: HttpRequest) -> Any:
        """Only those who may change keys may revoke them."""
        actions = super().get_actions(request)
        if not self.has_change_permission(request):
            actions.pop("revoke", None)
        return actions
