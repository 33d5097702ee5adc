"""The pages of the mailbox (framework/mailbox.py), for those who may read it; for others there is no such page."""

from collections.abc import Callable
from functools import wraps
from typing import Any

from csp.decorators import csp_replace
from django.conf import settings
from django.contrib.auth.views import redirect_to_login
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect, render, resolve_url
from django.views.decorators.cache import never_cache
from django.views.decorators.clickjacking import xframe_options_sameorigin
from django.views.decorators.http import require_POST, require_safe

from framework import mailbox

# Opens the links of the mail in new tabs: the frame that shows the mail may open windows, and nothing else.
BASE = '<!doctype html><base target="_blank">'
SANDBOX = "allow-popups allow-popups-to-escape-sandbox"


def readers_only(view: Callable[..., HttpResponse]) -> Callable[..., HttpResponse]:
    """Call the view for visitors who may read the mailbox.

    Signed-out visitors of another machine are redirected to sign-in; others get 404, as where there is no mailbox.
    """

    @never_cache
    @wraps(view)
    def wrapper(request: HttpRequest, **kwargs: Any) -> HttpResponse:
        if mailbox.may_read(request):
            return view(request, **kwargs)
        if settings.MAILBOX_DIR and not request.user.is_authenticated:
            return redirect_to_login(request.get_full_path(), resolve_url("account_login"))
        raise Http404

    return wrapper


@require_safe
@readers_only
def list_mails(request: HttpRequest) -> HttpResponse:
    """List the mails, newest first, or those to one recipient (`to`).

    The page polls with the name of the newest mail that it shows, and gets 204 while there is no newer one.
    """
    recipient = request.GET.get("to", "").strip()[:254]
    mails = list(mailbox.list_mails(recipient=recipient))
    if request.GET.get("newest") == (mails[0].name if mails else ""):
        return HttpResponse(status=204)
    context = {
        "mails": mails,
        "recipient": recipient,
        "max_mails": mailbox.MAX_MAILS,
        "days": mailbox.RETENTION.days,
    }
    return render(request, "mailbox/list.html", context)


@require_safe
@readers_only
def show_mail(request: HttpRequest, name: str) -> HttpResponse:
    return render(request, "mailbox/mail.html", {"mail": find(name), "sandbox": SANDBOX})


# A mail may contain any HTML. It gets no script and no request to any server, also when it is opened by its address.
@csp_replace(
    {
        "default-src": ["'none'"],
        "style-src": ["'unsafe-inline'"],
        "img-src": ["data:"],
        "base-uri": ["'none'"],
        "form-action": ["'none'"],
        "frame-ancestors": ["'self'"],
        "sandbox": SANDBOX.split(),
    }
)
@xframe_options_sameorigin
@require_safe
@readers_only
def show_html(request: HttpRequest, name: str) -> HttpResponse:
    """The HTML part of a mail, for the frame on its page."""
    return HttpResponse(BASE + find(name).html)


@require_safe
@readers_only
def download(request: HttpRequest, name: str) -> HttpResponse:
    """The mail as it was stored."""
    headers = {"Content-Disposition": f'attachment; filename="{name}.eml"', "X-Content-Type-Options": "nosniff"}
    return HttpResponse(find(name).raw, content_type="message/rfc822", headers=headers)


@require_POST
@readers_only
def delete_all(request: HttpRequest) -> HttpResponse:
    mailbox.delete_all()
    return redirect("mailbox")


def find(name: str) -> mailbox.StoredMail:
    """The mail of this name. Raises Http404."""
    mail = mailbox.read(name)
    if mail is None:
        raise Http404
    return mail
