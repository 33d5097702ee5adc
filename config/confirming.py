"""Pages of the back office that ask before an action does what hurts."""

from typing import Any

from django.contrib.admin import ModelAdmin
from django.contrib.admin.helpers import ACTION_CHECKBOX_NAME
from django.http import HttpRequest
from django.template.response import TemplateResponse


def ask(
    admin: ModelAdmin[Any], request: HttpRequest, template: str, *, title: str, action: str, **more: Any
) -> TemplateResponse:
    """The page that repeats the action for the same rows once somebody says yes: then `confirmed` is in the POST.

    The template extends confirm.html; `more` is what it tells.
    """
    context = {
        **admin.admin_site.each_context(request),
        "title": title,
        "opts": admin.opts,
        "action": action,
        "checkbox": ACTION_CHECKBOX_NAME,
        "selected": request.POST.getlist(ACTION_CHECKBOX_NAME),
        "select_across": request.POST.get("select_across", "0"),
        **more,
    }
    return TemplateResponse(request, template, context)
