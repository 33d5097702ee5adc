"""Views of django-allauth with rules of ours: email addresses of a user."""

from typing import Any, cast

from allauth.account.models import get_emailconfirmation_model
from allauth.account.views import ConfirmEmailView, EmailView
from django.contrib import messages
from django.contrib.auth.views import redirect_to_login
from django.db import IntegrityError, transaction
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, resolve_url
from django.utils.translation import gettext as _


class ConfirmAddressView(ConfirmEmailView):  # type: ignore[misc]  # allauth has no types
    """Confirms an address for the user who added it and is signed in.

    Otherwise the owner of an address could confirm it for somebody else, who signed up with it.
    """

    def dispatch(self, request: HttpRequest, *args: Any, **kwargs: Any) -> HttpResponse:
        confirmation = get_emailconfirmation_model().from_key(kwargs["key"])
        if confirmation and request.user.pk != confirmation.email_address.user_id:
            self.logout_other_user(confirmation)
            return redirect_to_login(request.get_full_path(), resolve_url("account_login"))
        return cast("HttpResponse", super().dispatch(request, *args, **kwargs))


class AddressesView(EmailView):  # type: ignore[misc]  # allauth has no types
    """The addresses of a user. A change is one transaction."""

    def post(self, request: HttpRequest, *args: Any, **kwargs: Any) -> HttpResponse:
        try:
            with transaction.atomic():
                return cast("HttpResponse", super().post(request, *args, **kwargs))
        except IntegrityError:
            messages.error(request, _("Another user signs in with this address."))
            return redirect("account_email")
