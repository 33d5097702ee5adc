"""Where staff find people, and the accounts that they belong to."""

from django.contrib import admin
from django.contrib.auth.admin import UserAdmin

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


@admin.register(Account)
class AccountAdmin(admin.ModelAdmin[Account]):
    """Customers of ours."""

    list_display = ["name", "created_at"]
    search_fields = ["name"]
    ordering = ["name", "id"]
    readonly_fields = ["id", "created_at"]
    inlines = [MembershipInline, VenueInline]
