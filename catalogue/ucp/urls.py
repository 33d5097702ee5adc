"""Paths of the operations, below the version."""

from django.urls import re_path

from catalogue.ucp import views

SESSION = r"checkout-sessions/(?P<session>[^/]+)"

urlpatterns = [
    re_path(r"^checkout-sessions/?$", views.sessions, name="ucp-sessions"),
    re_path(rf"^{SESSION}/?$", views.session, name="ucp-session"),
    re_path(rf"^{SESSION}/(?P<action>complete|cancel)/?$", views.session_action, name="ucp-session-action"),
]
