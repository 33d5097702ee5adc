"""The composition root of paths."""

from allauth.account.decorators import secure_admin_login
from django.contrib import admin
from django.urls import URLPattern, URLResolver, include, path, re_path
from django.views.generic import RedirectView

from accounts.dashboard.consent import authorize
from accounts.sign_in.views import AddressesView, ConfirmAddressView
from catalogue import mcp
from catalogue.agent_discovery import x402_manifest
from catalogue.api.discovery import llms, llms_full, page, well_known
from catalogue.mcp.server_card import install, serve_card, serve_catalog, serve_registry_entry
from catalogue.ucp import protocol as ucp
from catalogue.ucp.profile import serve_profile
from config import metrics
from config.website import crawlers, docs, legal, mailbox, reference, status
from config.website.landing import landing
from framework.api.openapi import schema
from payments.api import did_document
from reservations.api import urls as reservations

handler400 = "framework.api.error_handler.bad_request"
handler403 = "framework.api.error_handler.permission_denied"
handler404 = "framework.api.error_handler.page_not_found"
handler500 = "framework.page_errors.internal_error"

management = [
    path("api/v1/", include("orders.api.urls")),
    path("api/v1/", include(reservations.v1)),
    path("api/v1/", include("accounts.api.urls")),
]
# v1, and operations on a single reservation.
management_v2 = [
    path("api/v2/", include("orders.api.urls")),
    path("api/v2/", include(reservations.v2)),
    path("api/v2/", include("accounts.api.urls")),
]
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
    *management_v2,
    *data,
    re_path("^mcp(?:/account)?/?$", mcp.serve),
    # Descriptions of the MCP server, by SEP-2127 and by its predecessors, and of the documentation, for agents.
    path("mcp/server-card", serve_card),
    path(".well-known/mcp/server-card.json", serve_card),
    path("mcp/server.json", serve_registry_entry),
    re_path("^mcp/install/(?P<editor>cursor|vscode)$", install),
    path(".well-known/ai-catalog.json", serve_catalog),
    path("llms.txt", llms),
    path("llms-full.txt", llms_full),
    path("robots.txt", crawlers.robots),
    path("sitemap.xml", crawlers.sitemap),
    path("sitemap-pages.xml", crawlers.pages_sitemap),
    path(".well-known/security.txt", crawlers.security),
    # For clients that look there whatever a page links.
    path("favicon.ico", RedirectView.as_view(url="/static/tablewire/mark.svg")),
    re_path(r"^(?P<path>CHANGELOG\.md|docs/.+\.(?:md|svg))$", page),
    path("dashboard", RedirectView.as_view(pattern_name="dashboard", query_string=True)),
    path("dashboard/", include(dashboard)),
    # The authorization server: a page for people, endpoints and metadata for programs.
    path("oauth/authorize", authorize, name="oauth-authorize"),
    path("", include("accounts.oauth.views")),
    path("account/email/", AddressesView.as_view(), name="account_email"),
    path("account/confirm-email/<str:key>/", ConfirmAddressView.as_view(), name="account_confirm_email"),
    path("account/", include("allauth.urls")),
    path("account/sessions/", include("allauth.usersessions.urls")),
    path("admin/", admin.site.urls),
    re_path("^photos/(?=dish_)", include("orders.menu.photo_urls")),
    re_path("^photos/(?=img_)", include("reservations.booking_page.image_urls")),
    re_path("^photos(?:/|$)", include("catalogue.photos.views")),
    path("", include("catalogue.public_pages.urls")),
    path("guest/", include("reservations.self_service.urls")),
    path("book/", include("reservations.booking_page.urls")),
    path("order/", include("orders.ordering_page.urls")),
    path("order/", include("catalogue.order_payments.urls")),
    re_path(
        r"^docs/openapi/(?P<name>management|management-v2|data)\.json$",
        schema.serve_document,
        {"additions": {"data": x402_manifest.with_prices}},
        name="openapi",
    ),
    # Read by indexes of x402.
    path("openapi.json", schema.serve_document, {"name": "data", "additions": {"data": x402_manifest.with_prices}}),
    path(".well-known/x402", well_known),
    path(".well-known/ucp", serve_profile),
    path(f"{ucp.PATH.strip('/')}/", include("catalogue.ucp.urls")),
    path(".well-known/did.json", did_document.serve),
    path("metrics", metrics.serve),
    re_path("^docs/?$", docs.index, name="docs"),
    re_path("^docs/decisions/?$", docs.decision_index, name="docs-decisions"),
    re_path("^docs/api/(?P<name>management|management-v2|data)/?$", reference.overview, name="docs-api"),
    re_path("^docs/api/(?P<name>management|management-v2|data)/try/?$", reference.explorer, name="docs-try"),
    re_path(
        "^docs/api/(?P<name>management|management-v2|data)/(?P<group>[a-z_-]+)/?$",
        reference.group_page,
        name="docs-api-group",
    ),
    re_path("^docs/(?P<name>(?:decisions/)?[0-9a-z-]+)/?$", docs.page, name="docs-page"),
    path("terms", legal.terms, name="terms"),
    path("privacy", legal.privacy, name="privacy"),
    path("status", status.show_status, name="status"),
    path("mailbox", mailbox.list_mails, name="mailbox"),
    path("mailbox/delete", mailbox.delete_all, name="mailbox-delete"),
    path("mailbox/<slug:name>", mailbox.show_mail, name="mailbox-mail"),
    path("mailbox/<slug:name>/html", mailbox.show_html, name="mailbox-html"),
    path("mailbox/<slug:name>.eml", mailbox.download, name="mailbox-file"),
    path("", landing, name="home"),
]
