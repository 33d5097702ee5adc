"""The composition root of paths."""

from allauth.account.decorators import secure_admin_login
from django.contrib import admin
from django.urls import URLPattern, URLResolver, include, path, re_path
from django.views.generic import RedirectView

from catalogue import mcp
from catalogue.agent_discovery import x402_manifest
from catalogue.api.discovery import llms, page, well_known
from catalogue.mcp.server_card import serve_card, serve_catalog
from config import metrics
from config.website import docs
from config.website.landing import landing
from framework.api.openapi import schema

handler400 = "framework.api.error_handler.bad_request"
handler403 = "framework.api.error_handler.permission_denied"
handler404 = "framework.api.error_handler.page_not_found"
handler500 = "framework.api.error_handler.server_error"

management = [path("api/v1/", include("orders.api.urls")), path("api/v1/", include("reservations.api.urls"))]
dashboard: list[URLPattern | URLResolver] = [
    path("", include("accounts.dashboard.urls")),
    path("", include("orders.dashboard.urls")),
    path("", include("reservations.dashboard.urls")),
    path("", include("payments.dashboard.urls")),
    path("", include("catalogue.dashboard.urls")),
    re_path("^(?P<rest>.+)/$", RedirectView.as_view(url="/dashboard/%(rest)s", query_string=True)),
]
data = [path("v1/", include("catalogue.api.urls")), path("v1/", include("payments.api.urls"))]

# The admin signs in as the dashboard does: with second factors, and with limits on guessing.
admin.site.login = secure_admin_login(admin.site.login)  # type: ignore[method-assign]

urlpatterns = [
    *management,
    *data,
    re_path("^mcp/?$", mcp.serve),
    # Descriptions of the MCP server, by SEP-2127 and by its predecessors, and of the documentation, for agents.
    path("mcp/server-card", serve_card),
    path(".well-known/mcp/server-card.json", serve_card),
    path(".well-known/ai-catalog.json", serve_catalog),
    path("llms.txt", llms),
    re_path(r"^(?P<path>CHANGELOG\.md|docs/.+\.(?:md|svg))$", page),
    path("dashboard", RedirectView.as_view(pattern_name="dashboard", query_string=True)),
    path("dashboard/", include(dashboard)),
    path("account/", include("allauth.urls")),
    path("account/sessions/", include("allauth.usersessions.urls")),
    path("admin/", admin.site.urls),
    re_path("^photos(?:/|$)", include("catalogue.photos.views")),
    path("guest/", include("reservations.self_service.urls")),
    path("book/", include("reservations.booking_page.urls")),
    re_path(
        r"^docs/openapi/(?P<name>management|data)\.json$",
        schema.serve_document,
        {"additions": {"data": x402_manifest.with_prices}},
        name="openapi",
    ),
    # Read by indexes of x402.
    path("openapi.json", schema.serve_document, {"name": "data", "additions": {"data": x402_manifest.with_prices}}),
    path(".well-known/x402", well_known),
    path("metrics", metrics.serve),
    re_path("^docs/?$", docs.index, name="docs"),
    re_path("^docs/decisions/?$", docs.decision_index, name="docs-decisions"),
    re_path("^docs/api/(?P<name>management|data)/?$", docs.redoc, name="docs-api"),
    re_path("^docs/api/(?P<name>management|data)/try/?$", docs.swagger, name="docs-try"),
    re_path("^docs/(?P<name>(?:decisions/)?[0-9a-z-]+)/?$", docs.page, name="docs-page"),
    path("", landing, name="home"),
]
