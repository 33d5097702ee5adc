"""Paths of the guests' pages, below /guest. Each is served with and without a slash at its end."""

from django.urls import re_path

from reservations.self_service import views

TOKEN = r"^(?P<token>[^/]+)"  # noqa: S105  # where it stands in the path

urlpatterns = [
    re_path(rf"{TOKEN}/?$", views.reservation, name="guest"),
    re_path(rf"{TOKEN}/change/?$", views.change, name="guest-change"),
    re_path(rf"{TOKEN}/reservation.ics$", views.calendar, name="guest-calendar"),
    re_path(rf"{TOKEN}/cancel/?$", views.cancel, name="guest-cancel"),
    re_path(rf"{TOKEN}/confirm/?$", views.confirm, name="guest-confirm"),
    re_path(rf"{TOKEN}/accept/?$", views.accept, name="guest-accept"),
    re_path(rf"{TOKEN}/language/?$", views.set_language, name="guest-language"),
    re_path(rf"{TOKEN}/decline/?$", views.decline, name="guest-decline"),
]
