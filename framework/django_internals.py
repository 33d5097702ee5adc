"""Private names of Django and Django REST framework that we use where there is no public way.

tests/framework/test_django_internals.py fails when a new version changes one of them.
"""

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, ClassVar, TypeVar

from django.contrib.admin import AdminSite, ModelAdmin
from django.db.models import Model
from django.db.models.base import ModelState
from django.http import HttpRequest, HttpResponseBase

if TYPE_CHECKING:
    from rest_framework.request import Request

Row = TypeVar("Row", bound=Model)


def model_admins(site: AdminSite) -> Mapping[type[Model], ModelAdmin[Any]]:
    """What is registered with an admin site; publicly one can only ask for one model at a time."""
    return site._registry  # noqa: SLF001


def stored_headers(response: HttpResponseBase) -> dict[str, tuple[str, str]]:
    """The headers of a response by their names in lower case, to be read and written.

    Publicly each header is looked up and validated by itself: for the 16 headers of an answer 200 calls of functions,
    more than its view makes. Write only our own words, in ASCII and on one line.
    """
    store: dict[str, tuple[str, str]] = response.headers._store  # noqa: SLF001
    return store


def call_on_close(response: HttpResponseBase, close: Callable[[], object]) -> None:
    """Call this when the server closes the response, as Django does with the request."""
    response._resource_closers.append(close)  # type: ignore[attr-defined]  # noqa: SLF001


def set_prefetched(row: Model, name: str, related: Sequence[Model]) -> None:
    """Make `row.name.all()` return these rows, which may not be stored."""
    row._prefetched_objects_cache = {name: related}  # type: ignore[attr-defined]  # noqa: SLF001


def copy_row(row: Row) -> Row:
    """What copy.copy makes of a row, in a sixth of the time."""
    twin = object.__new__(type(row))
    twin.__dict__ = row.__dict__.copy()
    state = twin._state = ModelState()  # as Model.__getstate__ has it
    state.__dict__ = row._state.__dict__ | {"fields_cache": row._state.fields_cache.copy()}
    return twin


def wrapped_request(request: "Request") -> HttpRequest:
    """The request of Django that a request of REST framework wraps."""
    return request._request  # noqa: SLF001


class ValidatesUniqueness:
    """A ModelForm whose uniqueness is checked with fields that it does not show, named in `unique_with`."""

    unique_with: ClassVar[frozenset[str]] = frozenset()

    def _get_validation_exclusions(self) -> set[str]:
        excluded: set[str] = super()._get_validation_exclusions()  # type: ignore[misc]
        return excluded - self.unique_with
