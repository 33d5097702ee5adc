"""What somebody who signs in sees of themselves."""

from typing import cast

from allauth.account.decorators import reauthentication_required
from django.contrib import messages
from django.contrib.auth import logout
from django.contrib.auth.decorators import login_required
from django.db.models import QuerySet
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.utils import timezone
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_http_methods

from accounts.dashboard.forms import NameForm
from accounts.lifecycle import closure
from accounts.models import Membership, User
from accounts.tenancy import team
from framework.errors import Refusal


@never_cache
@login_required
@require_http_methods(["GET", "HEAD", "POST"])
def person(request: HttpRequest) -> HttpResponse:
    """Name, address, and the teams one is in."""
    user = cast("User", request.user)
    form = NameForm(request.POST or None, instance=user)
    if request.method == "POST" and form.is_valid():
        form.save()
        messages.success(request, "Your name is saved.")
        return redirect("person")
    status = 400 if request.method == "POST" else 200
    return render(request, "dashboard/profile.html", {"form": form, "parts": parts_of(user)}, status=status)


@never_cache
@login_required
@require_http_methods(["POST"])
def leave(request: HttpRequest, membership: int) -> HttpResponse:
    """Leave a team."""
    user = cast("User", request.user)
    part = parts_of(user).filter(pk=membership).first()
    if part:
        try:
            team.leave(part.account, user, now=timezone.now())
        except Refusal as refusal:
            messages.error(request, refusal.message)
        else:
            messages.success(request, f"You have left {part.account.name}.")
    return redirect("person")


@never_cache
@login_required
@require_http_methods(["GET", "HEAD", "POST"])
@reauthentication_required  # type: ignore[untyped-decorator]  # allauth has no types
def forget(request: HttpRequest) -> HttpResponse:
    """Delete oneself, after a question."""
    user = cast("User", request.user)
    if request.method != "POST":
        return render(request, "dashboard/delete_profile.html", {"parts": parts_of(user)})
    try:
        closure.forget(user, now=timezone.now())
    except Refusal as refusal:
        messages.error(request, refusal.message)
        return redirect("person")
    logout(request)
    messages.success(request, "You are deleted here. Goodbye.")
    return redirect("account_login")


def parts_of(user: User) -> QuerySet[Membership]:
    """The user's parts in open accounts."""
    mine = Membership.objects.filter(user=user, account__closed_at=None).select_related("account")
    return mine.order_by("account__name", "pk")
