"""The forms by which people join and tell of themselves, their team and their restaurants."""

from collections.abc import Sequence
from typing import Any

from allauth.account.forms import SignupForm
from django import forms
from django.contrib.auth.password_validation import validate_password
from django.core.validators import MaxLengthValidator
from django.db import IntegrityError, transaction
from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.utils import timezone
from django.utils.html import format_html, format_html_join
from django.utils.safestring import SafeString

from accounts.api_keys import one_time_secrets
from accounts.currencies import CURRENCIES
from accounts.lifecycle import onboarding
from accounts.models import Role, User, Venue
from accounts.tenancy.team import Reach
from framework.errors import Refusal
from framework.timezones import is_a_zone, zones

LENGTHS = "At least 8 characters, and nothing that everybody uses."
ROLES = {
    Role.OWNER: "everything, also the account itself",
    Role.MANAGER: "everything but the account itself",
    Role.HOST: "orders, reservations and guests",
    Role.KITCHEN: "orders, and what is sold out",
}


class ZoneInput(forms.TextInput):
    """A field that suggests the zones."""

    def render(self, name: str, value: Any, attrs: Any = None, renderer: Any = None) -> SafeString:
        """With a list of the zones' names."""
        known = f"zones-of-{name}"
        options = format_html_join("", '<option value="{}">', ((zone,) for zone in sorted(zones())))
        field = super().render(name, value, {"list": known} | (attrs or {}), renderer)
        return format_html('{}<datalist id="{}">{}</datalist>', field, known, options)


class ZoneField(forms.CharField):
    """The IANA name of a time zone."""

    def __init__(self, **options: Any) -> None:
        known: dict[str, Any] = {
            "label": "Time zone",
            "max_length": 64,
            "widget": ZoneInput,
            "validators": [is_a_zone],
        }
        super().__init__(**known | {"help_text": "Where the restaurant is: Europe/Rome."} | options)


class CurrencyField(forms.ChoiceField):
    """A code of ISO 4217."""

    def __init__(self, **options: Any) -> None:
        choices = [(code, code) for code in CURRENCIES]
        super().__init__(**{"label": "Currency", "choices": choices, "initial": "EUR"} | options)


class NewPasswordField(forms.CharField):
    """A password that somebody chooses."""

    def __init__(self, **options: Any) -> None:
        widget = forms.PasswordInput(attrs={"autocomplete": "new-password"})
        known: dict[str, Any] = {"label": "Password", "strip": False, "widget": widget, "help_text": LENGTHS}
        super().__init__(**known | options)


class Newcomer(SignupForm):  # type: ignore[misc]  # allauth has no types
    """What a newcomer is asked. The user and the account come to be together or not at all."""

    restaurant = forms.CharField(
        max_length=onboarding.NAME_LENGTH,
        help_text="Its name, or your company's.",
        widget=forms.TextInput(attrs={"autocomplete": "organization"}),
    )
    timezone = ZoneField(initial="UTC", widget=ZoneInput(attrs={"data-zone": ""}))
    currency = CurrencyField(help_text="Of your menu's prices.")
    field_order = ("restaurant", "email", "password1", "timezone", "currency")

    def __init__(self, *args: Any, **options: Any) -> None:
        super().__init__(*args, **options)
        self.fields["password1"].help_text = LENGTHS
        self.fields["email"].validators.append(MaxLengthValidator(254))
        for field in self.fields.values():
            field.widget.attrs.pop("placeholder", None)

    def try_save(self, request: HttpRequest) -> tuple[User | None, HttpResponse | None]:
        """Store all of it. Of two who sign up with one address at once, one is told that it is taken."""
        try:
            with transaction.atomic():
                kept: tuple[User | None, HttpResponse | None] = super().try_save(request)
                return kept
        except IntegrityError:
            self.add_error("email", "Somebody has just signed up with this address.")
            return None, render(request, "account/signup.html", {"form": self}, status=400)

    def custom_signup(self, request: HttpRequest, user: User) -> None:
        """Found the account; its first key waits in the session until it is shown, once."""
        asked = self.cleaned_data
        issued = onboarding.found(
            user, name=asked["restaurant"], timezone=asked["timezone"], currency=asked["currency"]
        )
        one_time_secrets.keep(request, issued.text, of=issued.row.venue.public_id, now=timezone.now())


class PasswordForm(forms.Form):
    """What is missing of somebody whose address is known."""

    password = NewPasswordField()

    def __init__(self, *args: Any, user: User, **options: Any) -> None:
        super().__init__(*args, **options)
        self.user = user

    def clean_password(self) -> str:
        """One that is hard to guess."""
        password: str = self.cleaned_data["password"]
        validate_password(password, self.user)
        return password


class NameForm(forms.ModelForm[User]):
    """What somebody is called."""

    class Meta:
        model = User
        fields = ("first_name", "last_name")


class PartForm(forms.Form):
    """What somebody does in a team, and where; the choices are those of the one who decides."""

    role = forms.ChoiceField(widget=forms.RadioSelect, initial=Role.HOST)
    venues = forms.ModelMultipleChoiceField(
        queryset=Venue.objects.none(),
        required=False,
        widget=forms.CheckboxSelectMultiple,
        help_text="None ticked: all venues, also those that come later.",
    )

    def __init__(self, *args: Any, reach: Reach, venues: Sequence[Venue], **options: Any) -> None:
        super().__init__(*args, **options)
        self.fields["role"].choices = [(role.value, f"{role.label}: {ROLES[role]}") for role in reach.roles()]  # type: ignore[attr-defined]  # a ChoiceField
        chosen = self.fields["venues"]
        chosen.queryset = Venue.objects.filter(pk__in=[venue.pk for venue in venues]).by_name()  # type: ignore[attr-defined]  # a ModelMultipleChoiceField
        if reach.venues is not None:
            chosen.required = True
            chosen.help_text = "Those that you lead."
        elif len(venues) < 2:
            del self.fields["venues"]

    def clean(self) -> dict[str, Any]:
        """With one venue there is nothing to choose: all."""
        values: dict[str, Any] = super().clean() or self.cleaned_data
        return {"venues": list[Venue]()} | values

    def blame(self, refusal: Refusal) -> None:
        """Say it at the field that it is about."""
        self.add_error(refusal.param if refusal.param in self.fields else None, refusal.message)

    def role_in_words(self) -> str:
        """The role that was chosen."""
        return Role(self.cleaned_data["role"]).label.lower()


class InviteForm(PartForm):
    """Whom to invite, and for what."""

    email = forms.EmailField(max_length=254, widget=forms.EmailInput(attrs={"autocomplete": "off"}))
    field_order = ("email", "role", "venues")


class AccountForm(forms.Form):
    """The name of an account."""

    name = forms.CharField(max_length=200, help_text="On our bills and in invitations; guests do not see it.")


class VenueForm(forms.Form):
    """A restaurant that is added."""

    name = forms.CharField(max_length=onboarding.NAME_LENGTH)
    timezone = ZoneField()
    currency = CurrencyField()
    is_sandbox = forms.BooleanField(
        label="For trying out",
        required=False,
        help_text="A sandbox: its keys begin with rk_test_, and nothing is real.",
    )


class CloseForm(forms.Form):
    """The question before an account ends."""

    name = forms.CharField(
        max_length=200, label="Type its name to be sure", widget=forms.TextInput(attrs={"autocomplete": "off"})
    )
