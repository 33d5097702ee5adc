"""Users and accounts in the back office."""

from typing import Any

from allauth.account.models import EmailAddress
from allauth.mfa.models import Authenticator
from django.contrib import admin, messages
from django.contrib.auth.admin import UserAdmin
from django.db.models import QuerySet
from django.forms import BaseModelFormSet, ModelForm
from django.http import HttpRequest
from django.template.defaultfilters import pluralize
from django.utils import timezone
from django.utils.html import format_html_join
from django.utils.safestring import SafeString

from accounts.admin.venues import VenueInline
from accounts.lifecycle import closure
from accounts.models import Account, Membership, User
from accounts.oauth.access import end_lost_access
from accounts.sign_in import mfa_reset
from framework.admin.action_confirmation import confirmed_action
from framework.admin.badges import badge
from framework.admin.large_tables import BoundedActions
from framework.forms.domain_errors import errors_as_messages

TYPE_LABELS = {
    Authenticator.Type.TOTP: "authenticator app",
    Authenticator.Type.WEBAUTHN: "passkey",
    Authenticator.Type.RECOVERY_CODES: "recovery codes",
}


@admin.register(User)
class TablewireUserAdmin(BoundedActions, UserAdmin[User]):
    """Users, identified by their email address."""

    ordering = ["email"]
    list_display = ["email", "kind", "first_name", "last_name", "last_login"]
    search_fields = ["email", "first_name__unaccent", "last_name__unaccent"]
    is_in_site_search = True
    fieldsets = [
        (None, {"fields": ["email", "password"]}),
        ("Name", {"fields": ["first_name", "last_name"]}),
        ("Sign-in", {"fields": ["addresses", "second_factor"]}),
        ("Rights", {"fields": ["is_active", "is_staff", "is_superuser", "groups", "user_permissions"]}),
        ("Dates", {"classes": ["collapse"], "fields": ["last_login", "date_joined"]}),
    ]
    readonly_fields = ["addresses", "second_factor"]
    add_fieldsets = [(None, {"classes": ["wide"], "fields": ["email", "usable_password", "password1", "password2"]})]
    actions = ["remove_second_factor"]

    def save_model(self, request: HttpRequest, obj: User, form: ModelForm[User], change: bool) -> None:
        """Save the user; the grants of a deactivated one end, and stay ended."""
        super().save_model(request, obj, form, change)
        end_lost_access(obj.oauth_grants.all(), now=timezone.now())

    @admin.display(description="Kind", ordering="is_staff")
    def kind(self, person: User) -> SafeString:
        if not person.is_active:
            return badge("inactive", "bad")
        return badge("staff", "info") if person.is_staff else badge("customer", "soft")

    @admin.display(description="Email addresses")
    def addresses(self, person: User) -> SafeString | str:
        rows = EmailAddress.objects.filter(user=person).order_by("-primary", "email")
        lines = ((row.email, "confirmed" if row.verified else "not confirmed") for row in rows)
        return format_html_join("", "<div><bdi>{}</bdi>, {}</div>", lines) or "no confirmation was sent yet"

    @admin.display(description="Second factor")
    def second_factor(self, person: User) -> SafeString | str:
        """The kinds of second factor and since when; never the secret."""
        rows = Authenticator.objects.filter(user=person).order_by("created_at", "pk")
        lines = ((TYPE_LABELS.get(row.type, row.type), f"{row.created_at:%Y-%m-%d}") for row in rows)
        return format_html_join("", "<div>{}, since {}</div>", lines) or "not set up"

    @confirmed_action(
        "Remove two-factor authentication",
        message="These users will sign in with their password only. Verify their identity first. They are notified.",
        confirm_label="Remove two-factor authentication",
        applies_to=lambda people: people.filter(authenticator__isnull=False).distinct(),
    )
    def remove_second_factor(self, request: HttpRequest, people: QuerySet[User]) -> None:
        """Remove the second factors and notify the users by email."""
        removed = 0
        for person in people.filter(authenticator__isnull=False).distinct().order_by("pk"):
            if mfa_reset.remove_authenticators(person, now=timezone.now()):
                removed += 1
                self.log_change(request, person, "Removed two-factor authentication.")
        if removed:
            users = f"{removed} user{pluralize(removed)}"
            messages.success(request, f"Two-factor authentication removed for {users}.")
        else:
            messages.error(request, "None of these users has a second factor.")


class MembershipInline(admin.TabularInline[Membership, Account]):
    """Members of the account."""

    model = Membership
    extra = 0
    autocomplete_fields = ["user"]
    # The restaurants of a member are edited on the team page, which checks the permissions.
    fields = ["user", "role", "is_limited"]
    readonly_fields = ["is_limited"]


@admin.register(Account)
class AccountAdmin(BoundedActions):
    """Customer accounts."""

    list_display = ["name", "state", "created_at", "closed_at"]
    search_fields = ["name__unaccent", "members__email"]
    search_help_text = "Name, or email of a member"
    is_in_site_search = True
    ordering = ["name", "id"]
    readonly_fields = ["id", "state", "created_at", "closed_at"]
    inlines = [MembershipInline, VenueInline]
    actions = ["reopen"]
    fieldsets = [
        (None, {"fields": ["name", "state", "created_at", "closed_at"]}),
        ("Record", {"classes": ["collapse"], "fields": ["id"]}),
    ]

    def save_formset(
        self, request: HttpRequest, form: ModelForm[Account], formset: BaseModelFormSet[Any], change: bool
    ) -> None:
        """Save members; what one of them granted and may not grant any more ends, and stays ended."""
        super().save_formset(request, form, formset, change)
        end_lost_access(form.instance.oauth_grants.all(), now=timezone.now())

    @admin.display(description="State", ordering="closed_at")
    def state(self, account: Account) -> SafeString:
        return badge("closed", "bad") if account.closed_at else badge("open", "good")

    @confirmed_action(
        "Reopen accounts that were closed less than 30 days ago",
        message="The members of these accounts can sign in again. Their API keys stay revoked.",
        confirm_label="Reopen accounts",
        applies_to=lambda accounts: accounts.exclude(closed_at=None),
    )
    def reopen(self, request: HttpRequest, accounts: QuerySet[Account]) -> None:
        """Reopen accounts; their API keys stay revoked."""
        for account in accounts.order_by("pk"):
            with errors_as_messages(request, f"{account}: "):
                closure.reopen_account(account, now=timezone.now())
                messages.success(request, f"{account} was reopened.")
