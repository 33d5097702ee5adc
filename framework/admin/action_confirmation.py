"""Actions of the back office: their confirmation pages, and one message for each row."""

from collections.abc import Callable, Sequence
from functools import wraps
from typing import Any, TypeVar

from django.contrib import admin as django_admin
from django.contrib import messages
from django.contrib.admin import ModelAdmin
from django.contrib.admin.helpers import ACTION_CHECKBOX_NAME
from django.db.models import Model, QuerySet
from django.forms import Form
from django.http import HttpRequest, HttpResponse
from django.template.response import TemplateResponse

from framework.errors import ApiError

Row = TypeVar("Row", bound=Model)
Action = Callable[[Any, HttpRequest, Any], HttpResponse | None]

# The confirmation page lists at most so many rows.
MAX_EXAMPLES = 20


def confirmed_action(
    description: str,
    *,
    message: str,
    confirm_label: str,
    permissions: Sequence[str] = ("change",),
    applies_to: Callable[[Any], QuerySet[Any]] = lambda rows: rows,
) -> Callable[[Action], Action]:
    """Make a list action that runs after a confirmation page, which says what will happen and to how many rows.

    `applies_to` filters the rows on the page to those that the action will change.
    """

    def decorate(run: Action) -> Action:
        @django_admin.action(description=description, permissions=permissions)
        @wraps(run)
        def action(admin: Any, request: HttpRequest, queryset: Any) -> HttpResponse | None:
            if "confirmed" in request.POST:
                return run(admin, request, queryset)
            return render_rows_confirmation(
                admin,
                request,
                applies_to(queryset),
                action=run.__name__,
                title=f"{confirm_label}?",
                message=message,
                confirm_label=confirm_label,
            )

        return action

    return decorate


def render_rows_confirmation(
    admin: ModelAdmin[Any],
    request: HttpRequest,
    rows: QuerySet[Any],
    *,
    action: str,
    title: str,
    message: str,
    confirm_label: str,
    form: Form | None = None,
    status: int = 200,
) -> TemplateResponse:
    """Render a confirmation page with the number of rows, the first of them, and `message`.

    `form` holds additional input. Two queries.
    """
    count = rows.order_by().count()
    context = {
        "count": count,
        "examples": rows[:MAX_EXAMPLES],
        "more": max(count - MAX_EXAMPLES, 0),
        "message": message,
        "confirm_label": confirm_label,
        "form": form,
    }
    page = render_confirmation(admin, request, "admin/confirm_rows.html", title=title, action=action, **context)
    page.status_code = status
    return page


def render_confirmation(
    admin: ModelAdmin[Any], request: HttpRequest, template: str, *, title: str, action: str, **more: Any
) -> TemplateResponse:
    """Render a page that repeats the action for the same rows with `confirmed` in the POST.

    The template extends confirm.html and gets `more` as context.
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


def run_on_each(
    admin: ModelAdmin[Any], request: HttpRequest, rows: QuerySet[Row], command: Callable[[Row], str]
) -> None:
    """Run the command on each row, and show its message or its error."""
    for row in rows:
        try:
            message, level = command(row), messages.SUCCESS
        except ApiError as error:
            message, level = f"{row}: {error.message}", messages.ERROR
        admin.message_user(request, message, level)
