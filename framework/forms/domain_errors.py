"""Domain errors in views: shown at the form, or as a message on the next page."""

from collections.abc import Iterator
from contextlib import contextmanager

from django.contrib import messages
from django.forms import BaseForm
from django.http import HttpRequest

from framework.errors import ApiError


@contextmanager
def errors_on_form(form: BaseForm, field: str | None = None) -> Iterator[None]:
    """Add an ApiError of the block to the field that it names, or else to `field`; None is the form as a whole."""
    try:
        yield
    except ApiError as error:
        form.add_error(error.param if error.param in form.fields else field, error.message)


@contextmanager
def errors_as_messages(request: HttpRequest, prefix: str = "") -> Iterator[None]:
    """Show an ApiError of the block as an error message."""
    try:
        yield
    except ApiError as error:
        messages.error(request, f"{prefix}{error.message}")
