"""Where staff find accounts, venues, people and keys."""

from typing import Any

from django.contrib import admin, messages
from django.contrib.auth.admin import UserAdmin
from django.db.models import QuerySet
from django.forms import ModelForm
from django.http import HttpRequest
from django.utils import timezone

from accounts.models import Account, ApiKey, Membership, User, Venue

admin.site.site_header = "Tablewire"
admin.site.site_title = "Tablewire"
admin.site.index_title = "Back office"


@admin.register(User)
class PersonAdmin(UserAdmin[User]):
    """People, known by their mail address."""

    ordering = ["email"]
    list_display = ["email", "first_name", "last_name", "is_staff", "is_active", "last_login"]
    search_fields = ["email", "first_name", "last_name"]
    fieldsets = [
        (None, {"fields": ["email", "password"]}),
        ("Name", {"fields": ["first_name", "last_name"]}),
        ("Rights", {"fields": ["is_active", "is_staff", "is_superuser", "groups", "user_permissions"]}),
        ("Moments", {"fields": ["last_login", "date_joined"]}),
    ]
    add_fieldsets = [(None, {"classes": ["wide"], "fields": ["email", "usable_password", "password1", "password2"]})]


class MembershipInline(admin.TabularInline[Membership, Account]):
    """Who belongs to the account."""

    model = Membership
    extra = 0
    autocomplete_fields = ["user"]


class VenueInline(admin.TabularInline[Venue, Account]):
    """The account's venues."""

    model = Venue
    extra = 0
    fields = ["name", "timezone", "currency", "is_sandbox"]
    show_change_link = True


@admin.register(Account)
class AccountAdmin(admin.ModelAdmin[Account]):
    """Customers of ours."""

    list_display = ["name", "created_at"]
    search_fields = ["name"]
    ordering = ["name", "id"]
    readonly_fields = ["id", "created_at"]
    inlines = [MembershipInline, VenueInline]


@admin.register(Venue)
class VenueAdmin(admin.ModelAdmin[Venue]):
    """Restaurants of accounts."""

    list_display = ["name", "account", "timezone", "currency", "is_sandbox"]
    list_select_related = ["account"]
    list_filter = ["is_sandbox"]
    search_fields = ["name", "account__name"]
    ordering = ["name", "id"]
    autocomplete_fields = ["account"]
    readonly_fields = ["id", "created_at"]


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
