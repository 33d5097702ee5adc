"""The terms and the privacy notice of an installation: its operator's own pages, or the ones of Tablewire."""

from datetime import date

from django.conf import settings
from django.http import HttpRequest, HttpResponse, HttpResponseRedirect
from django.shortcuts import render
from django.views.decorators.http import require_safe

# Of the last change of either text.
UPDATED_DATE = date(2026, 11, 27)


@require_safe
def terms(request: HttpRequest) -> HttpResponse:
    """The terms of use; a redirect to TERMS_URL if the operator has set it."""
    return _show(request, settings.TERMS_URL, "landing/terms.html")


@require_safe
def privacy(request: HttpRequest) -> HttpResponse:
    """The privacy notice; a redirect to PRIVACY_URL if the operator has set it."""
    return _show(request, settings.PRIVACY_URL, "landing/privacy.html")


def _show(request: HttpRequest, own_page: str, template: str) -> HttpResponse:
    if own_page:
        return HttpResponseRedirect(own_page)
    context = {
        "updated_date": UPDATED_DATE,
        "operator": settings.OPERATOR_NAME,
        "email": settings.OPERATOR_EMAIL,
        "guest_retention_days": settings.GUEST_RETENTION_DAYS,
    }
    return render(request, template, context)
