"""Pages of the back office that ask before an action does what hurts."""

from typing import Any

from django.contrib.admin import ModelAdmin
from django.contrib.admin.helpers import ACTION_CHECKBOX_NAME
from django.db.models import QuerySet
from django.forms import Form
from django.http import HttpRequest
from django.template.response import TemplateResponse

# So many rows are named on the page that asks.
MOST_NAMED = 20


def ask_about(
    admin: ModelAdmin[Any],
    request: HttpRequest,
    rows: QuerySet[Any],
    *,
    action: str,
    title: str,
    words: str,
    yes: str,
    form: Form | None = None,
    status: int = 200,
) -> TemplateResponse:
    """The page that counts these rows, names the first, says in `words` what would become of them, and asks.

    `form` is what has to be filled in besides. Two queries.
    """
    number = rows.order_by().count()
    told = {
        "number": number,
        "named": rows[:MOST_NAMED],
        "unnamed": max(number - MOST_NAMED, 0),
        "words": words,
        "yes": yes,
        "form": form,
    }
    page = ask(admin, request, "admin/confirm_rows.html", title=title, action=action, **told)
    page.status_code = status
    return page


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
