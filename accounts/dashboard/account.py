"""Account pages: name, restaurants, data export and closing."""

from allauth.account.decorators import reauthentication_required
from django.contrib import messages
from django.http import HttpResponse, StreamingHttpResponse
from django.shortcuts import redirect, render
from django.utils import timezone
from django.utils.translation import gettext as _

from accounts import data_export
from accounts.dashboard.decorators import PageRequest, page
from accounts.forms.people import AccountForm, CloseAccountForm, VenueForm
from accounts.lifecycle import closure, sign_up
from accounts.models import Account, StaffAccess
from accounts.tenancy import staff_access
from accounts.tenancy.permissions import Right
from framework.forms.domain_errors import errors_on_form

# Both forms of the page have a name.
VENUE_IDS = "id_venue_%s"


@page(Right.ACCOUNT, section="account")
def show(request: PageRequest) -> HttpResponse:
    """Show the account page."""
    return render_page(request)


@page(Right.ACCOUNT, section="account", methods=("POST",))
def rename(request: PageRequest) -> HttpResponse:
    """Rename the account."""
    form = AccountForm(request.POST)
    if not form.is_valid():
        return render_page(request, name_form=form)
    Account.objects.filter(pk=request.access.account.pk).update(name=form.cleaned_data["name"])
    messages.success(request, _("Name saved."))
    return redirect("account", venue=request.access.venue.public_id)


@page(Right.ACCOUNT, section="account", methods=("POST",))
def add_venue(request: PageRequest) -> HttpResponse:
    """Add a restaurant."""
    form = VenueForm(request.POST, auto_id=VENUE_IDS)
    if form.is_valid():
        with errors_on_form(form):
            venue = sign_up.add_venue(request.access.account, **form.cleaned_data)
            messages.success(
                request,
                _("%(venue)s was added. Next, set up API keys, a menu and tables.") % {"venue": venue.name},
            )
            return redirect("overview", venue=venue.public_id)
    return render_page(request, venue_form=form)


@page(Right.ACCOUNT, section="account", methods=("POST",))
@reauthentication_required  # type: ignore[untyped-decorator]  # allauth has no types
def export_data(request: PageRequest) -> StreamingHttpResponse:
    """Stream a zip file with all data of the account."""
    return StreamingHttpResponse(
        data_export.stream_zip(request.access.account),
        content_type="application/zip",
        headers={"Content-Disposition": f'attachment; filename="tablewire-{timezone.now():%Y-%m-%d}.zip"'},
    )


@page(Right.ACCOUNT, section="account", methods=("GET", "HEAD", "POST"))
@reauthentication_required  # type: ignore[untyped-decorator]  # allauth has no types
def close(request: PageRequest) -> HttpResponse:
    """Ask for the account's name as confirmation, then close the account."""
    account, now = request.access.account, timezone.now()
    form = CloseAccountForm(request.POST or None)
    if request.method == "POST" and form.is_valid():
        with errors_on_form(form, "name"):
            closure.close_account(account, name=form.cleaned_data["name"], now=now)
            messages.success(request, _("%(account)s was closed.") % {"account": account.name})
            return redirect("dashboard")
    context = {
        "form": form,
        "account": account,
        "reasons": closure.find_blockers(account, now=now),
        "days": closure.DELETION_DELAY.days,
    }
    return render(request, "dashboard/account_close.html", context, status=400 if request.method == "POST" else 200)


def render_page(
    request: PageRequest, *, name_form: AccountForm | None = None, venue_form: VenueForm | None = None
) -> HttpResponse:
    """Render the account page; a form with errors is shown again with status 400."""
    account = request.access.account
    defaults = {"timezone": request.access.venue.timezone, "currency": request.access.venue.currency}
    context = {
        "account": account,
        "name_form": name_form or AccountForm(initial={"name": account.name}),
        "venue_form": venue_form or VenueForm(initial=defaults, auto_id=VENUE_IDS),
        "venues": account.venues.by_name()[: sign_up.MAX_VENUES],
        "staff_accesses": staff_access.list_newest(StaffAccess.objects.filter(venue__account=account)),
        "max_staff_accesses": staff_access.MAX_SHOWN,
    }
    return render(request, "dashboard/account.html", context, status=400 if name_form or venue_form else 200)
