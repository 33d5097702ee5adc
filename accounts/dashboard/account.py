"""Account pages: name, restaurants, data export and closing."""

from allauth.account.decorators import reauthentication_required
from django.contrib import messages
from django.http import HttpResponse, StreamingHttpResponse
from django.shortcuts import redirect, render
from django.utils import timezone

from accounts import data_export
from accounts.dashboard.decorators import PageRequest, page
from accounts.forms.people import AccountForm, CloseForm, VenueForm
from accounts.lifecycle import closure, onboarding
from accounts.tenancy.permissions import Right
from framework.errors import ApiError


@page(Right.ACCOUNT, section="account")
def show(request: PageRequest) -> HttpResponse:
    """Show the account page."""
    return shown(request)


@page(Right.ACCOUNT, section="account", methods=("POST",))
def rename(request: PageRequest) -> HttpResponse:
    """Rename the account."""
    form = AccountForm(request.POST)
    if not form.is_valid():
        return shown(request, name_form=form)
    onboarding.rename(request.access.account, name=form.cleaned_data["name"])
    messages.success(request, "Name saved.")
    return redirect("account", venue=request.access.venue.public_id)


@page(Right.ACCOUNT, section="account", methods=("POST",))
def add_venue(request: PageRequest) -> HttpResponse:
    """Add a restaurant."""
    form = VenueForm(request.POST)
    if form.is_valid():
        try:
            made = onboarding.add_venue(request.access.account, **form.cleaned_data)
        except ApiError as refusal:
            form.add_error(None, refusal.message)
        else:
            messages.success(request, f"{made.name} was added. Next, set up API keys, a menu and tables.")
            return redirect("overview", venue=made.public_id)
    return shown(request, venue_form=form)


@page(Right.ACCOUNT, section="account", methods=("POST",))
@reauthentication_required  # type: ignore[untyped-decorator]  # allauth has no types
def take_out(request: PageRequest) -> StreamingHttpResponse:
    """Stream a zip file with all data of the account."""
    account = request.access.account
    answer = StreamingHttpResponse(data_export.write(account), content_type="application/zip")
    name = f"tablewire-{timezone.now():%Y-%m-%d}.zip"
    answer["Content-Disposition"] = f'attachment; filename="{name}"'
    return answer


@page(Right.ACCOUNT, section="account", methods=("GET", "HEAD", "POST"))
@reauthentication_required  # type: ignore[untyped-decorator]  # allauth has no types
def close(request: PageRequest) -> HttpResponse:
    """Ask for the account's name as confirmation, then close the account."""
    account, now = request.access.account, timezone.now()
    form = CloseForm(request.POST or None)
    if request.method == "POST" and form.is_valid():
        try:
            closure.close(account, name=form.cleaned_data["name"], now=now)
        except ApiError as refusal:
            form.add_error("name", refusal.message)
        else:
            messages.success(request, f"{account.name} was closed.")
            return redirect("dashboard")
    context = {
        "form": form,
        "account": account,
        "reasons": closure.reasons(account, now=now),
        "days": closure.KEPT.days,
    }
    return render(request, "dashboard/account_close.html", context, status=400 if request.method == "POST" else 200)


def shown(
    request: PageRequest, *, name_form: AccountForm | None = None, venue_form: VenueForm | None = None
) -> HttpResponse:
    """Render the account page; a form with errors is shown again with status 400."""
    account = request.access.account
    defaults = {"timezone": request.access.venue.timezone, "currency": request.access.venue.currency}
    context = {
        "account": account,
        "name_form": name_form or AccountForm(initial={"name": account.name}),
        "venue_form": venue_form or VenueForm(initial=defaults),
        "venues": account.venues.order_by("is_sandbox", "name", "id")[: onboarding.VENUES],
    }
    return render(request, "dashboard/account.html", context, status=400 if name_form or venue_form else 200)
