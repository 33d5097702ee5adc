"""The private names of Django that we use still do what we use them for."""

import copy

import pytest
from django.contrib import admin
from django.contrib.auth.models import Group, Permission
from django.forms import ModelForm
from django.http import HttpResponse
from django.test import RequestFactory
from rest_framework.request import Request

from framework.django_internals import (
    ValidatesUniqueness,
    call_on_close,
    copy_row,
    model_admins,
    set_prefetched,
    stored_headers,
    wrapped_request,
)


def test_registered_admins_are_listed() -> None:
    site = admin.AdminSite()
    site.register(Group, admin.ModelAdmin)
    assert {model: type(found) for model, found in model_admins(site).items()} == {Group: admin.ModelAdmin}


def test_headers_are_read_and_written_without_validation() -> None:
    response = HttpResponse(headers={"X-Tier": "free"})
    assert stored_headers(response)["x-tier"] == ("X-Tier", "free")
    stored_headers(response)["etag"] = ("ETag", '"1"')
    assert response["etag"] == '"1"'
    assert ("ETag", '"1"') in list(response.items())


@pytest.mark.django_db
def test_a_response_calls_back_when_it_is_closed() -> None:
    closed: list[bool] = []
    response = HttpResponse()
    call_on_close(response, lambda: closed.append(True))
    response.close()
    assert closed == [True]


def test_prefetched_rows_need_no_query(db: None) -> None:
    group = Group(pk=1, name="a")
    permissions = [Permission(name="b")]
    set_prefetched(group, "permissions", permissions)
    assert list(group.permissions.all()) == permissions


@pytest.mark.django_db
def test_a_copied_row_is_what_copy_makes_and_shares_no_state() -> None:
    group = Group.objects.create(name="a")
    twin, expected = copy_row(group), copy.copy(group)
    assert type(twin) is Group
    # Django marks what it has copied, for pickles.
    assert vars(twin) | {"_state": None} == {
        name: value for name, value in vars(expected).items() if name != "_django_version"
    } | {"_state": None}
    assert vars(twin._state) == vars(expected._state)
    assert twin._state is not group._state
    assert twin._state.fields_cache is not group._state.fields_cache
    twin.name = "b"
    assert group.name == "a"


def test_a_request_of_rest_framework_wraps_ours() -> None:
    ours = RequestFactory().get("/")
    assert wrapped_request(Request(ours)) is ours


@pytest.mark.django_db
def test_uniqueness_is_checked_with_a_field_that_is_not_shown() -> None:
    taken = Permission.objects.earliest("pk")

    class Plain(ModelForm[Permission]):
        class Meta:
            model = Permission
            fields = ["name", "codename"]

    class Checked(ValidatesUniqueness, Plain):
        unique_with = frozenset({"content_type"})

    given = {"name": "x", "codename": taken.codename}
    row = Permission(content_type=taken.content_type)
    assert Plain(given, instance=row).is_valid()
    assert not Checked(given, instance=row).is_valid()
