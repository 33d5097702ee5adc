"""The forms by which people join."""

from typing import Any

from django import forms
from django.http import HttpRequest

from accounts import joining
from accounts.models import User
from config.api.zones import is_a_zone

FIRST_KEY = "first_key"


class NewcomerForm(forms.Form):
    """What a newcomer is asked beside the mail address and the password."""

    restaurant = forms.CharField(max_length=200, label="Restaurant", help_text="Its name, or your company's")
    timezone = forms.CharField(max_length=64, label="Time zone", initial="UTC", validators=[is_a_zone])

    def signup(self, request: HttpRequest, user: User) -> None:
        """Give the new user an account; its first key waits in the session until it is shown, once."""
        asked: dict[str, Any] = self.cleaned_data
        issued = joining.found(user, name=asked["restaurant"], timezone=asked["timezone"], currency="EUR")
        request.session[FIRST_KEY] = issued.text
