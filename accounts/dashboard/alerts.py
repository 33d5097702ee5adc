"""The page on which a member chooses what to be alerted of at a venue."""

import base64
import re
from uuid import UUID

from django import forms
from django.contrib import messages
from django.forms.boundfield import BoundWidget
from django.http import HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.utils import timezone
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy, pgettext_lazy

from accounts.alerts import settings, web_push
from accounts.alerts.kinds import RIGHTS
from accounts.dashboard.decorators import PageRequest, page
from accounts.models import PushDevice
from accounts.tenancy.permissions import Access, Right
from framework.forms.domain_errors import errors_as_messages

BROWSERS = {"Edg": "Edge", "Firefox": "Firefox", "Chrome": "Chrome", "Safari": "Safari"}
SYSTEMS = {"Android": "Android", "iPhone": "iPhone", "iPad": "iPad", "Windows": "Windows", "Mac OS": "macOS"}
SYSTEMS |= {"Linux": "Linux"}
TimeInput = forms.TimeInput(attrs={"type": "time"}, format="%H:%M")


class AlertsForm(forms.Form):
    """Kinds of alerts by mail and in the browser, and the quiet hours."""

    mail = forms.MultipleChoiceField(label=gettext_lazy("Email"), widget=forms.CheckboxSelectMultiple, required=False)
    push = forms.MultipleChoiceField(
        label=pgettext_lazy("alert channel", "Browser"), widget=forms.CheckboxSelectMultiple, required=False
    )
    quiet_from = forms.TimeField(label=pgettext_lazy("period", "From"), widget=TimeInput, required=False)
    quiet_until = forms.TimeField(label=pgettext_lazy("period", "Until"), widget=TimeInput, required=False)

    def __init__(self, *args: object, access: Access, **options: object) -> None:
        super().__init__(*args, **{"label_suffix": ""} | options)  # type: ignore[arg-type]  # those of Form
        kinds = settings.list_kinds(access)
        for name in ("mail", "push"):
            self.fields[name].choices = kinds  # type: ignore[attr-defined]  # a MultipleChoiceField

    @property
    def groups(self) -> list[tuple[str, list[tuple[BoundWidget, BoundWidget]]]]:
        """The title of each group, and its kinds of alerts with their two checkboxes."""
        rows = list(zip(self["mail"], self["push"], strict=True))
        titles = {Right.ORDERS: _("Orders"), Right.RESERVATIONS: _("Reservations")}
        found = [
            (title, [row for row in rows if RIGHTS[row[0].data["value"]] == right]) for right, title in titles.items()
        ]
        return [(title, group) for title, group in found if group]

    def clean(self) -> None:
        if self.errors:
            return
        begin, end = self.cleaned_data["quiet_from"], self.cleaned_data["quiet_until"]
        if (begin is None) != (end is None):
            self.add_error("quiet_until", _("Enter both times, or neither."))
        elif begin is not None and begin == end:
            self.add_error("quiet_until", _("Enter another time than the start."))


@page(section="alerts", methods=("GET", "HEAD", "POST"))
def edit_alerts(request: PageRequest) -> HttpResponse:
    """Show and save the member's alerts; list their browsers. Two queries besides those of the layout."""
    access = request.access
    if access.role is None:
        return render(request, "accounts/alerts.html", {"form": None})
    subscriptions = settings.list_subscriptions(access)
    initial: dict[str, object] = {channel: row.kinds for channel, row in subscriptions.items()}
    for row in subscriptions.values():
        initial |= {"quiet_from": row.quiet_from, "quiet_until": row.quiet_until}
    # Nothing is sent if nothing is checked.
    form = AlertsForm(request.POST if request.method == "POST" else None, access=access, initial=initial)
    if request.method == "POST" and form.is_valid():
        settings.save(access, now=timezone.now(), **form.cleaned_data)
        messages.success(request, _("Alerts saved."))
        return redirect("alerts", venue=access.venue.public_id)
    context = {
        "form": form,
        "devices": list(PushDevice.objects.filter(user=access.user).order_by("-created_at", "-pk")),
        "server_key": base64.urlsafe_b64encode(web_push.public_key()).decode().rstrip("="),
    }
    return render(request, "accounts/alerts.html", context, status=400 if request.method == "POST" else 200)


@page(section="alerts", methods=("POST",))
def add_device(request: PageRequest) -> HttpResponse:
    """Store the browser that has just allowed notifications (alerts.js)."""
    access, sent = request.access, request.POST
    with errors_as_messages(request):
        settings.add_device(
            access.user,
            endpoint=sent.get("endpoint", ""),
            public_key=sent.get("p256dh", ""),
            auth_secret=sent.get("auth", ""),
            name=describe_browser(request.headers.get("User-Agent", "")),
            now=timezone.now(),
        )
        messages.success(request, _("This browser shows notifications from now on."))
    return redirect("alerts", venue=access.venue.public_id)


@page(section="alerts", methods=("POST",))
def remove_device(request: PageRequest, device: UUID) -> HttpResponse:
    get_object_or_404(PushDevice, user=request.access.user, pk=device).delete()
    messages.success(request, _("The browser was removed."))
    return redirect("alerts", venue=request.access.venue.public_id)


def describe_browser(agent: str) -> str:
    """Return the browser and the system of a User-Agent: `Firefox, Android`."""
    found = (
        next((name for word, name in names.items() if re.search(word, agent)), "") for names in (BROWSERS, SYSTEMS)
    )
    return ", ".join(filter(None, found)) or _("Unknown browser")
