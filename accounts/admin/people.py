"""Where staff find people, and the accounts that they belong to."""

from typing import ClassVar

from django.contrib import admin, messages
from django.contrib.auth.admin import UserAdmin
from django.db.models import QuerySet
from django.http import HttpRequest
from django.utils import timezone

from accounts import closing
from accounts.admin.venues import VenueInline
from accounts.models import Account, Membership, User


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
    # To which venues a part is limited is decided on the team's page, which knows who may decide it.
    fields = ["user", "role", "is_limited"]
    readonly_fields = ["is_limited"]


@admin.register(Account)
class AccountAdmin(admin.ModelAdmin[Account]):
    """Customers of ours."""

    list_display = ["name", "created_at", "closed_at"]
    search_fields = ["name"]
    ordering = ["name", "id"]
    readonly_fields = ["id", "created_at", "closed_at"]
    inlines = [MembershipInline, VenueInline]
    actions: ClassVar = ["reopen"]

    @admin.action(description="Reopen accounts that were closed less than 30 days ago", permissions=["change"])
    def reopen(self, request: HttpRequest, accounts: QuerySet[Account]) -> None:
        """Let their members in again; keys stay revoked."""
        for account in accounts.order_by("pk"):
            try:
                closing.reopen(account, now=timezone.now())
            except closing.CannotReopen as refusal:
                messages.error(request, f"{account}: {refusal.message}")
            else:
                messages.success(request, f"{account} is open again.")
