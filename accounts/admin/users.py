"""Where staff find people, and the accounts that they belong to."""

from typing import Any

from allauth.account.models import EmailAddress
from django.contrib import admin, messages
from django.contrib.auth.admin import UserAdmin
from django.db.models import QuerySet
from django.http import HttpRequest, HttpResponse
from django.utils import timezone
from django.utils.html import format_html_join
from django.utils.safestring import SafeString

from accounts.admin.venues import VenueInline
from accounts.lifecycle import closure
from accounts.models import Account, Membership, User
from accounts.sign_in import mfa_reset
from framework.admin.action_confirmation import ask_about
from framework.admin.large_tables import BoundedActions


@admin.register(User)
class PersonAdmin(BoundedActions, UserAdmin[User]):
    """People, known by their mail address."""

    ordering = ["email"]
    list_display = ["email", "first_name", "last_name", "is_staff", "is_active", "last_login"]
    search_fields = ["email", "first_name", "last_name"]
    fieldsets = [
        (None, {"fields": ["email", "password"]}),
        ("Name", {"fields": ["first_name", "last_name"]}),
        ("Signing in", {"fields": ["addresses", "second_factor"]}),
        ("Rights", {"fields": ["is_active", "is_staff", "is_superuser", "groups", "user_permissions"]}),
        ("Moments", {"fields": ["last_login", "date_joined"]}),
    ]
    readonly_fields = ["addresses", "second_factor"]
    add_fieldsets = [(None, {"classes": ["wide"], "fields": ["email", "usable_password", "password1", "password2"]})]
    actions = ["remove_second_factor"]

    @admin.display(description="Mail addresses")
    def addresses(self, person: User) -> SafeString | str:
        """Each, and whether it was confirmed."""
        rows = EmailAddress.objects.filter(user=person).order_by("-primary", "email")
        said = ((row.email, "confirmed" if row.verified else "not confirmed") for row in rows)
        return format_html_join("", "<div><bdi>{}</bdi>, {}</div>", said) or "none that was mailed to"

    @admin.display(description="Second factor")
    def second_factor(self, person: User) -> SafeString | str:
        """Of which kind, and since when; never what it is made of."""
        return format_html_join("", "<div>{}</div>", ((said,) for said in mfa_reset.told(person))) or "none is set up"

    @admin.action(description="Remove a lost second factor", permissions=["change"])
    def remove_second_factor(self, request: HttpRequest, people: QuerySet[User]) -> HttpResponse | None:
        """Ask; then let the password alone sign them in, and tell them so."""
        with_one = people.filter(authenticator__isnull=False).distinct()
        if "confirmed" not in request.POST:
            words = "The password alone signs these people in then. Be sure that it is they who ask: they get a mail."
            asked: dict[str, Any] = {"title": "Remove second factors?", "words": words, "yes": "Yes, remove them"}
            return ask_about(self, request, with_one, action="remove_second_factor", **asked)
        removed = 0
        for person in with_one.order_by("pk"):
            if mfa_reset.remove(person, now=timezone.now()):
                removed += 1
                self.log_change(request, person, "Removed the second factor.")
        if not removed:
            self.message_user(request, "None of them has a second factor.", messages.ERROR)
            return None
        said = "1 person has" if removed == 1 else f"{removed} people have"
        self.message_user(request, f"{said} no second factor any more.", messages.SUCCESS)
        return None


class MembershipInline(admin.TabularInline[Membership, Account]):
    """Who belongs to the account."""

    model = Membership
    extra = 0
    autocomplete_fields = ["user"]
    # To which venues a part is limited is decided on the team's page, which knows who may decide it.
    fields = ["user", "role", "is_limited"]
    readonly_fields = ["is_limited"]


@admin.register(Account)
class AccountAdmin(BoundedActions):
    """Customers of ours."""

    list_display = ["name", "created_at", "closed_at"]
    search_fields = ["name"]
    ordering = ["name", "id"]
    readonly_fields = ["id", "created_at", "closed_at"]
    inlines = [MembershipInline, VenueInline]
    actions = ["reopen"]

    @admin.action(description="Reopen accounts that were closed less than 30 days ago", permissions=["change"])
    def reopen(self, request: HttpRequest, accounts: QuerySet[Account]) -> None:
        """Let their members in again; keys stay revoked."""
        for account in accounts.order_by("pk"):
            try:
                closure.reopen(account, now=timezone.now())
            except closure.CannotReopen as refusal:
                messages.error(request, f"{account}: {refusal.message}")
            else:
                messages.success(request, f"{account} is open again.")
