"""The `page` decorator: sign-in, membership and permission checks for the pages of a venue."""

from collections.abc import Callable
from functools import wraps
from typing import Any, cast

from django.contrib.auth.views import redirect_to_login
from django.core.exceptions import PermissionDenied
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import resolve_url
from django.utils import timezone
from django.views.decorators.cache import never_cache
from django_htmx.http import HttpResponseClientRedirect

from accounts.models.venues import PREFIX
from accounts.tenancy import staff_access
from accounts.tenancy.permissions import Access, Right, get_access
from framework.db import actor
from framework.public_ids import decode

SAFE = ("GET", "HEAD")
PageView = Callable[..., HttpResponse]


class PageRequest(HttpRequest):
    """A request that has passed the checks of `page`."""

    access: Access
    section: str


def page(*rights: Right, section: str = "", methods: tuple[str, ...] = SAFE) -> Callable[[PageView], PageView]:
    """Call the view with `request.access` if the user has one of these rights; without rights, for every member.

    Our own staff may see pages that they may not post to; that they opened the dashboard is recorded.

    The URL contains the venue (`ven_...`). Signed-out users are redirected to sign-in. Non-members get 404, members
    without the right 403, and methods that the page does not support 405. `section` is the current menu entry.
    """

    def decorator(view: PageView) -> PageView:
        @never_cache
        @wraps(view)
        def wrapper(request: HttpRequest, *, venue: str, **kwargs: Any) -> HttpResponse:
            if not request.user.is_authenticated:
                sign_in = resolve_url("account_login")
                # htmx would insert the page where the response belongs.
                if getattr(request, "htmx", None):
                    return HttpResponseClientRedirect(sign_in)
                return redirect_to_login(request.get_full_path(), sign_in)
            key = decode(PREFIX, venue)
            # A fragment is of the venue of its page.
            known = getattr(request, "access", None)
            access = known if known and known.venue.pk == key else get_access(request.user, key) if key else None
            if access is None:
                raise Http404
            has_right = access.may_view if request.method in SAFE else access.may
            if rights and not any(map(has_right, rights)):
                raise PermissionDenied
            if request.method not in methods:
                return HttpResponse(status=405, headers={"Allow": ", ".join(methods)})
            staff_access.record(access, now=timezone.now())
            page_request = cast("PageRequest", request)
            page_request.access, page_request.section = access, section
            if request.method in SAFE:
                # Parts that a page fetches do not count: two open pages would take turns.
                if not getattr(request, "htmx", None):
                    access.user.remember_venue(access.venue)
                return view(page_request, **kwargs)
            with actor.acting_as(access.actor):
                return view(page_request, **kwargs)

        return wrapper

    return decorator
