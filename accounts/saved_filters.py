"""Saved filters of the lists of the back office: own ones, and those that others share."""

from collections.abc import Iterator
from typing import Any, cast
from uuid import UUID

from django import forms
from django.contrib import messages
from django.contrib.admin import AdminSite, ModelAdmin
from django.core.exceptions import PermissionDenied
from django.db.models import Q, QuerySet
from django.http import Http404, HttpRequest, HttpResponse, HttpResponseRedirect, QueryDict
from django.urls import reverse
from django.utils import timezone

from accounts.models import SavedFilter, User
from framework.django_internals import model_admins

MAX_OF_USER = 100
# The parameter of the order of a list.
ORDER = "o"


class SavedFilterForm(forms.ModelForm[SavedFilter]):
    def __init__(self, *args: Any, filter_names: tuple[str, ...], **options: Any) -> None:
        super().__init__(*args, **options)
        self.filter_names = filter_names

    class Meta:
        model = SavedFilter
        fields = ("name", "query", "is_shared")

    def clean_query(self) -> str:
        """Keep the order and the filters of the list.

        Searches and other fields, such as an address of mail, may name people, whose erasure would leave them here.
        """
        query = QueryDict(self.cleaned_data["query"], mutable=True)
        for name in list(query):
            if name != ORDER and not f"{name}__".startswith(self.filter_names):
                del query[name]
        return query.urlencode()


def list_visible(request: HttpRequest) -> QuerySet[SavedFilter]:
    """The user's own saved filters, and those that others share."""
    return (
        SavedFilter.objects.filter(Q(user=request.user.pk) | Q(is_shared=True))
        .select_related("user")
        .order_by("name", "id")
    )


def list_of_page(request: HttpRequest) -> QuerySet[SavedFilter]:
    """Those of the list that the request shows."""
    page = request.resolver_match.url_name if request.resolver_match else ""
    return list_visible(request).filter(list_name=str(page).removesuffix("_changelist"))


def list_all(site: AdminSite, request: HttpRequest) -> Iterator[dict[str, Any]]:
    """Yield the saved filters of the front page. One query.

    Those of lists that no longer exist, or that the user may not view, are shown to their owner, without a URL.
    """
    admins = admins_by_name(site)
    for row in list_visible(request):
        model_admin = admins.get(row.list_name)
        is_viewable = model_admin is not None and model_admin.has_view_or_change_permission(request)
        is_mine = row.user_id == request.user.pk
        if model_admin is not None and is_viewable:
            label = model_admin.opts.verbose_name_plural
            url = f"{reverse(f'admin:{row.list_name}_changelist')}?{row.query}"
            yield {"row": row, "label": label, "url": url, "is_mine": is_mine}
        elif is_mine:
            yield {"row": row, "label": row.list_name, "url": "", "is_mine": True}


def admins_by_name(site: AdminSite) -> dict[str, ModelAdmin[Any]]:
    return {f"{each.opts.app_label}_{each.opts.model_name}": each for each in model_admins(site).values()}


def list_filter_names(model_admin: ModelAdmin[Any], request: HttpRequest) -> tuple[str, ...]:
    """The beginnings of the parameters of the list's filters: `status__`."""
    names = []
    for each in model_admin.get_list_filter(request):
        if isinstance(each, type):
            names.append(str(each.parameter_name))  # type: ignore[attr-defined]  # a SimpleListFilter
        else:
            names.append(str(each[0] if isinstance(each, tuple | list) else each))
    return tuple(f"{name}__" for name in names)


def save(site: AdminSite, request: HttpRequest, list_name: str) -> HttpResponse:
    """Save the filters of a list. A name of the user's own is overwritten."""
    model_admin = admins_by_name(site).get(list_name)
    if model_admin is None:
        raise Http404
    if not model_admin.has_view_or_change_permission(request):
        raise PermissionDenied
    row = SavedFilter(user=cast("User", request.user), list_name=list_name, created_at=timezone.now())
    form = SavedFilterForm(request.POST, instance=row, filter_names=list_filter_names(model_admin, request))
    url = reverse(f"admin:{list_name}_changelist")
    if not form.is_valid():
        messages.error(request, " ".join(str(error) for errors in form.errors.values() for error in errors))
        return HttpResponseRedirect(url)
    if SavedFilter.objects.filter(user=row.user).count() >= MAX_OF_USER:
        messages.error(request, f"You have {MAX_OF_USER} saved filters. Delete some on the front page first.")
    else:
        SavedFilter.objects.bulk_create(
            [row],
            update_conflicts=True,
            unique_fields=["user", "list_name", "name"],
            update_fields=["query", "is_shared"],
        )
        messages.success(request, f"“{row.name}” was saved.")
    return HttpResponseRedirect(f"{url}?{row.query}")


def delete(request: HttpRequest, key: UUID) -> HttpResponse:
    """Delete a saved filter of the user; superusers delete also those that others share."""
    rows = list_visible(request).filter(pk=key)
    if not request.user.is_superuser:
        rows = rows.filter(user=request.user.pk)
    row = rows.first()
    if row is None:
        raise Http404
    row.delete()
    messages.success(request, f"“{row.name}” was deleted.")
    return HttpResponseRedirect(reverse("admin:index"))
