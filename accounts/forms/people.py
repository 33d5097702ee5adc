"""Forms of sign-up, invitations, teams, accounts and restaurants."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from allauth.account.adapter import get_adapter
from allauth.account.forms import AddEmailForm, LoginForm, ResetPasswordForm, ResetPasswordKeyForm, SignupForm
from allauth.account.models import EmailAddress
from allauth.core import context
from allauth.mfa.webauthn.forms import AddWebAuthnForm
from django import forms
from django.contrib.auth.password_validation import validate_password
from django.core.validators import MaxLengthValidator
from django.db import IntegrityError, transaction
from django.forms.boundfield import BoundField
from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.utils import timezone
from django.utils.functional import lazy
from django.utils.html import format_html, format_html_join
from django.utils.safestring import SafeString
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from accounts.api_keys import one_time_secrets
from accounts.lifecycle import sign_up
from accounts.models import Role, User, Venue
from accounts.sign_in import takeover
from accounts.tenancy.team import TeamAuthority
from framework.languages import name_of_currency
from framework.timezones import currency_of_zone, find_zone, validate_zone, zone_names

# ISO 4217, list one, without funds, precious metals and test codes.
# With the names of Unicode CLDR 47.
CURRENCIES = [
    (line[:3], lazy(name_of_currency, str)(line[:3]))
    for line in Path(__file__).with_name("currencies.txt").read_text(encoding="utf-8").splitlines()
]
MIN_STRENGTH_HELP = gettext_lazy("At least 8 characters, not a common password.")
# Of the sign-up form, filled in by the browser's zone.
PLACE_FIELDS = ("timezone", "currency")
ROLES = {
    Role.OWNER: gettext_lazy("everything, including the account"),
    Role.MANAGER: gettext_lazy("everything except the account"),
    Role.HOST: gettext_lazy("orders, reservations and guests"),
    Role.KITCHEN: gettext_lazy("orders and sold-out dishes"),
}


class ZoneInput(forms.TextInput):
    """A text input that suggests time zones, each with the currency of its country."""

    def render(self, name: str, value: Any, attrs: Any = None, renderer: Any = None) -> SafeString:
        zones = ((zone, currency_of_zone(zone)) for zone in sorted(zone_names()))
        options = format_html_join("", '<option value="{}" data-currency="{}">', zones)
        field = super().render(name, value, {"list": f"zones-of-{name}"} | (attrs or {}), renderer)
        return format_html('{}<datalist id="zones-of-{}">{}</datalist>', field, name, options)


class RevealedPasswordInput(forms.PasswordInput):
    """A password input with a button that shows what was typed; pages.js makes it visible."""

    def render(self, name: str, value: Any, attrs: Any = None, renderer: Any = None) -> SafeString:
        field = super().render(name, value, attrs, renderer)
        shown = format_html(
            '<button type="button" class="link" data-reveal="{}" aria-pressed="false" title="{}" hidden>{}</button>',
            (attrs or {}).get("id", ""),
            _("Show password"),
            _("Show"),
        )
        return format_html('<span class="reveal">{}{}</span>', field, shown)


class ZoneField(forms.CharField):
    """A time zone, also by its city: `rome` is Europe/Rome."""

    def to_python(self, value: Any) -> Any:
        return find_zone(super().to_python(value) or "")


class VenueForm(forms.Form):
    """A new restaurant."""

    name = forms.CharField(label=gettext_lazy("Name"), max_length=sign_up.MAX_NAME_LENGTH)
    timezone = ZoneField(
        label=gettext_lazy("Time zone"),
        max_length=64,
        widget=ZoneInput,
        validators=[validate_zone],
        help_text=gettext_lazy("The restaurant's time zone, for example Europe/Rome."),
    )
    currency = forms.ChoiceField(label=gettext_lazy("Currency"), choices=CURRENCIES, initial="EUR")
    is_sandbox = forms.BooleanField(
        label=gettext_lazy("Sandbox"),
        required=False,
        help_text=gettext_lazy("For testing: its API keys begin with rk_test_, and nothing is real."),
    )


def drop_placeholders(form: forms.BaseForm) -> None:
    """Remove the placeholders of django-allauth, which repeat the labels."""
    for field in form.fields.values():
        field.widget.attrs.pop("placeholder", None)


class SignInForm(LoginForm):  # type: ignore[misc]  # allauth has no types
    """Email address and password, which can be shown."""

    def __init__(self, *args: Any, **options: Any) -> None:
        super().__init__(*args, **options)
        self.fields["password"].widget = RevealedPasswordInput(attrs=self.fields["password"].widget.attrs)
        drop_placeholders(self)


class SignUpForm(SignupForm):  # type: ignore[misc]  # allauth has no types
    """The sign-up form. User and account are created in one transaction."""

    restaurant = forms.CharField(
        label=gettext_lazy("Restaurant or company"),
        max_length=sign_up.MAX_NAME_LENGTH,
        widget=forms.TextInput(attrs={"autocomplete": "organization"}),
    )
    timezone = VenueForm.base_fields["timezone"]
    currency = VenueForm.base_fields["currency"]
    field_order = ("restaurant", "email", "password1", "timezone", "currency")

    def __init__(self, *args: Any, **options: Any) -> None:
        super().__init__(*args, **options)
        self.fields["password1"].help_text = MIN_STRENGTH_HELP
        self.fields["password1"].widget = RevealedPasswordInput(attrs=self.fields["password1"].widget.attrs)
        self.fields["timezone"].initial = "UTC"
        if not self.is_bound:
            # The script fills in the zone of the browser, but does not replace what was typed.
            self.fields["timezone"].widget.attrs["data-zone"] = ""
        self.fields["currency"].help_text = gettext_lazy("The currency of your menu prices.")
        self.fields["email"].validators.append(MaxLengthValidator(254))
        drop_placeholders(self)

    @property
    def main_fields(self) -> list[BoundField]:
        """The fields that each newcomer fills in; the others have values that fit most."""
        return [self[name] for name in self.fields if name not in PLACE_FIELDS]

    @property
    def place_fields(self) -> list[BoundField]:
        return [self[name] for name in PLACE_FIELDS]

    @property
    def has_place_errors(self) -> bool:
        return any(name in self.errors for name in PLACE_FIELDS)

    def validate_unique_email(self, value: str) -> str:
        """Accept an address that other users only added to theirs: anybody could reserve it that way."""
        self.account_already_exists = False
        return str(super().validate_unique_email(value)) if User.objects.with_address(value).exists() else value

    def try_save(self, request: HttpRequest) -> tuple[User | None, HttpResponse | None]:
        """Store user and account. Of two concurrent sign-ups with one address, the second gets a form error."""
        try:
            with transaction.atomic():
                saved: tuple[User | None, HttpResponse | None] = super().try_save(request)
                return saved
        except IntegrityError:
            self.add_error("email", _("An account with this address was just created."))
            return None, render(request, "account/signup.html", {"form": self}, status=400)

    def custom_signup(self, request: HttpRequest, user: User) -> None:
        """Create the account; its first API key stays in the session until the welcome page shows it."""
        values = self.cleaned_data
        key = sign_up.create_account(
            user, name=values["restaurant"], timezone=values["timezone"], currency=values["currency"]
        )
        one_time_secrets.store(request, key.text, of=key.row.venue.public_id, now=timezone.now())


class AddAddressForm(AddEmailForm):  # type: ignore[misc]  # allauth has no types
    """One more address of a user. It replaces a primary address that is not confirmed.

    So nobody signs up with an address of somebody else and keeps an address of their own beside it, to get back in
    when the owner has set a new password.
    """

    def clean_email(self) -> str:
        value: str = super().clean_email()
        if User.objects.with_address(value).exclude(pk=self.user.pk).exists():
            raise get_adapter().validation_error("email_taken")
        return value

    def save(self, request: HttpRequest) -> EmailAddress:
        addresses = EmailAddress.objects.filter(user=self.user)
        is_confirmed = addresses.filter(email=self.user.email, verified=True).exists()
        added: EmailAddress = super().save(request)
        if not is_confirmed:
            addresses.exclude(pk=added.pk).delete()
            added.set_as_primary()
        return added


class RequestPasswordResetForm(ResetPasswordForm):  # type: ignore[misc]  # allauth has no types
    """Mails a link to an address that a user signs in with or has confirmed."""

    def __init__(self, *args: Any, **options: Any) -> None:
        super().__init__(*args, **options)
        drop_placeholders(self)

    def clean_email(self) -> str:
        email: str = super().clean_email()
        self.users = list(User.objects.with_address(email).filter(is_active=True))
        return email


class NewPasswordForm(ResetPasswordKeyForm):  # type: ignore[misc]  # allauth has no types
    """A new password, set by a mailed link: ends what somebody else may have kept."""

    def save(self) -> None:
        super().save()
        takeover.secure_user(self.user, request=context.request)


class AddPasskeyForm(AddWebAuthnForm):  # type: ignore[misc]  # allauth has no types
    """The name of the passkey, and whether it replaces the password."""

    def __init__(self, *args: Any, **options: Any) -> None:
        super().__init__(*args, **options)
        name, passwordless = self.fields["name"], self.fields["passwordless"]
        name.label, name.help_text, name.max_length = (
            gettext_lazy("Name"),
            gettext_lazy("To recognise it, for example: my phone."),
            100,
        )
        passwordless.label, passwordless.initial = gettext_lazy("Passwordless sign-in"), True
        passwordless.help_text = gettext_lazy(
            "Sign in without the password. Clear this for a security key without a PIN."
        )


class PasswordForm(forms.Form):
    """The password of a new user whose email address is already known."""

    password = forms.CharField(
        label=gettext_lazy("Password"),
        strip=False,
        widget=forms.PasswordInput(attrs={"autocomplete": "new-password"}),
        help_text=MIN_STRENGTH_HELP,
    )

    def __init__(self, *args: Any, user: User, **options: Any) -> None:
        super().__init__(*args, **options)
        self.user = user

    def clean_password(self) -> str:
        password: str = self.cleaned_data["password"]
        validate_password(password, self.user)
        return password


class MembershipForm(forms.Form):
    """Role and restaurants of a team member; the choices depend on the user who edits."""

    role = forms.ChoiceField(label=gettext_lazy("Role"), widget=forms.RadioSelect, initial=Role.HOST)
    access = forms.ChoiceField(
        label=gettext_lazy("Restaurants"),
        widget=forms.RadioSelect,
        choices=[
            ("all", gettext_lazy("All restaurants, including ones added later")),
            ("selected", gettext_lazy("Only the selected restaurants")),
        ],
    )
    venues = forms.ModelMultipleChoiceField(
        label=gettext_lazy("Selected restaurants"),
        queryset=Venue.objects.none(),
        required=False,
        widget=forms.CheckboxSelectMultiple,
    )

    def __init__(self, *args: Any, authority: TeamAuthority, venues: Sequence[Venue], **options: Any) -> None:
        super().__init__(*args, **options)
        self.fields["role"].choices = [(role.value, f"{role.label}: {ROLES[role]}") for role in authority.roles()]  # type: ignore[attr-defined]  # a ChoiceField
        field = self.fields["venues"]
        field.queryset = Venue.objects.filter(pk__in=[venue.pk for venue in venues]).by_name()  # type: ignore[attr-defined]  # a ModelMultipleChoiceField
        if authority.venues is not None:
            field.required = True
            field.label = gettext_lazy("Restaurants")
            field.help_text = gettext_lazy("The restaurants that you manage.")
            del self.fields["access"]
        elif len(venues) < 2:
            del self.fields["venues"], self.fields["access"]

    def clean(self) -> dict[str, Any]:
        values: dict[str, Any] = super().clean() or self.cleaned_data
        access = values.pop("access", None)
        if access == "selected" and not values.get("venues"):
            self.add_error("venues", _("Select at least one restaurant."))
        if access == "all" and values.get("venues"):
            self.add_error("access", _("Choose all restaurants or only the selected ones."))
        return {"venues": list[Venue]()} | values


class InvitationForm(MembershipForm):
    """Email address, role and restaurants of an invitation."""

    email = forms.EmailField(
        label=gettext_lazy("Email"), max_length=254, widget=forms.EmailInput(attrs={"autocomplete": "off"})
    )
    field_order = ("email", "role", "access", "venues")


class AccountForm(forms.Form):
    """The name of an account."""

    name = forms.CharField(
        label=gettext_lazy("Name"),
        max_length=200,
        help_text=gettext_lazy("Shown on invoices and in invitations, not to guests."),
    )


class CloseAccountForm(forms.Form):
    """Confirmation before an account is closed."""

    name = forms.CharField(
        max_length=200,
        label=gettext_lazy("Type the account name to confirm"),
        widget=forms.TextInput(attrs={"autocomplete": "off"}),
    )
