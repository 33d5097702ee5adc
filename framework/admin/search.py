"""Search of the admin by public ids, in one list and in all."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, ClassVar
from urllib.parse import urlencode

from django.contrib import admin
from django.contrib.admin import AdminSite
from django.db.models import Model, QuerySet
from django.http import HttpRequest
from django.urls import reverse
from django.utils.text import capfirst

from framework import public_ids
from framework.db.statement_timeout import StatementTimedOut, statement_timeout
from framework.django_internals import model_admins

# The rows that the search of all lists shows of each, and the time that it may take there.
MAX_ROWS = 5
STATEMENT_TIMEOUT_MS = 500


class PublicIdSearch(admin.ModelAdmin[Any]):
    """Finds rows by public id, which no search field holds: it is the encoded primary key.

    `id_columns` are columns with ids of other rows, by prefix: {"evt": "event"}. With `is_in_site_search` the search
    of all lists looks here for texts, too.
    """

    id_columns: ClassVar[Mapping[str, str]] = {}
    is_in_site_search: ClassVar[bool] = False

    def get_search_links(self, row: Any) -> list[tuple[str, str]]:
        """Texts and URLs of more links of a row in the search of all lists."""
        return []

    @property
    def own_prefix(self) -> str:
        """The prefix of the public ids of the model; empty without them."""
        prefix = getattr(self.model, "public_id", "")
        return prefix if isinstance(prefix, str) else ""

    def get_search_results(
        self, request: HttpRequest, queryset: QuerySet[Any], search_term: str
    ) -> tuple[QuerySet[Any], bool]:
        term = search_term.strip()
        own = {self.own_prefix: "pk"} if self.own_prefix else {}
        for prefix, column in (own | dict(self.id_columns)).items():
            if key := public_ids.decode(prefix, term.lower()):
                return queryset.filter(**{column: key}), False
        return super().get_search_results(request, queryset, search_term)


@dataclass(frozen=True, slots=True)
class Found:
    """Rows of one list: their texts, URLs and further links.

    `url` is the list; `is_timed_out`: the search there took too long.
    """

    label: str
    url: str
    rows: list[tuple[str, str, list[tuple[str, str]]]]
    has_more: bool = False
    is_timed_out: bool = False


def find_by_id(site: AdminSite, request: HttpRequest, term: str) -> str | None:
    """The URL of the row with this public id, if it exists and the user may view it."""
    for model_admin in viewable_admins(site, request):
        prefix = model_admin.own_prefix
        key = public_ids.decode(prefix, term.lower()) if prefix else None
        if key and model_admin.get_queryset(request).filter(pk=key).exists():
            return change_url(model_admin, key)
    return None


def search_all(site: AdminSite, request: HttpRequest, term: str) -> Iterator[Found]:
    """Search the lists that take part in it, each under a statement timeout. One query a list."""
    for model_admin in viewable_admins(site, request):
        if not model_admin.is_in_site_search:
            continue
        label = capfirst(str(model_admin.opts.verbose_name_plural))
        url = f"{reverse(f'admin:{model_admin.opts.app_label}_{model_admin.opts.model_name}_changelist')}?"
        url += urlencode({"q": term})
        try:
            with statement_timeout(STATEMENT_TIMEOUT_MS):
                rows, repeats = model_admin.get_search_results(request, model_admin.get_queryset(request), term)
                # The texts of rows may name related rows.
                related = model_admin.list_select_related
                rows = rows if isinstance(related, bool) else rows.select_related(*related)
                found: list[Model] = list((rows.distinct() if repeats else rows).order_by()[: MAX_ROWS + 1])
        except StatementTimedOut:
            yield Found(label, url, [], is_timed_out=True)
            continue
        if found:
            shown = [
                (str(row), change_url(model_admin, row.pk), model_admin.get_search_links(row))
                for row in found[:MAX_ROWS]
            ]
            yield Found(label, url, shown, has_more=len(found) > MAX_ROWS)


def viewable_admins(site: AdminSite, request: HttpRequest) -> Iterator[PublicIdSearch]:
    """The model admins with this search that the user may view."""
    for model_admin in model_admins(site).values():
        if isinstance(model_admin, PublicIdSearch) and model_admin.has_view_or_change_permission(request):
            yield model_admin


def change_url(model_admin: PublicIdSearch, key: object) -> str:
    return reverse(f"admin:{model_admin.opts.app_label}_{model_admin.opts.model_name}_change", args=[key])
