"""Lets people in to the pages of a venue: who is signed in, has a part there, and may do what the page is for."""

from collections.abc import Callable
from functools import wraps
from typing import Any, cast

from django.contrib.auth.views import redirect_to_login
from django.core.exceptions import PermissionDenied
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import resolve_url
from django.views.decorators.cache import never_cache
from django_htmx.http import HttpResponseClientRedirect

from accounts.models.venues import PREFIX
from accounts.tenancy.permissions import Access, Right, access
from framework.db import actor
from framework.public_ids import decode

SAFE = ("GET", "HEAD")
PageView = Callable[..., HttpResponse]


class PageRequest(HttpRequest):
    """A request that has come through the doorway."""

    access: Access
    section: str


def page(*rights: Right, section: str = "", methods: tuple[str, ...] = SAFE) -> Callable[[PageView], PageView]:
    """Hand the view a request with `access`, for people who have one of these rights; with none named, for all there.

    The view's address names the venue: `ven_...`. Strangers are sent to sign in; who has no part there is answered
    404, who has not the right 403, and a method that the page has not 405. `section` is the entry of the menu.
    """

    def decorate(view: PageView) -> PageView:
        @never_cache
        @wraps(view)
        def answer(request: HttpRequest, *, venue: str, **named: Any) -> HttpResponse:
            if not request.user.is_authenticated:
                return to_sign_in(request)
            key = decode(PREFIX, venue)
            found = access(request.user, key) if key else None
            if found is None:
                raise Http404
            if rights and not any(found.may(right) for right in rights):
                raise PermissionDenied
            if request.method not in methods:
                refused = HttpResponse(status=405)
                refused["Allow"] = ", ".join(methods)
                return refused
            mine = cast("PageRequest", request)
            mine.access, mine.section = found, section
            if request.method in SAFE:
                return view(mine, **named)
            with actor.as_(found.actor):
                return view(mine, **named)

        return answer

    return decorate


def to_sign_in(request: HttpRequest) -> HttpResponse:
    """Send a stranger to sign in and back; a part of a page that is fetched anew takes the whole page there."""
    if getattr(request, "htmx", None):
        return HttpResponseClientRedirect(resolve_url("account_login"))
    return redirect_to_login(request.get_full_path(), resolve_url("account_login"))
