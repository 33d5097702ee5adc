"""The composition root of paths."""

from allauth.account.decorators import secure_admin_login
from django.contrib import admin
from django.urls import URLPattern, URLResolver, include, path, re_path
from django.views.generic import RedirectView

from accounts import takeout
from catalogue import discovery, mcp
from catalogue.api.discovery import llms, page, well_known
from catalogue.mcp.card import serve_card, serve_catalog
from config import metrics
from config.api import openapi
from config.pages import docs, reference
from config.pages.landing import landing
from orders.takeout import menus_of, orders_of
from payments.customers import payments_of
from reservations.takeout import reservations_of

handler400 = "config.api.errors.bad_request"
handler403 = "config.api.errors.forbidden"
handler404 = "config.api.errors.not_found"
handler500 = "config.api.errors.broken"

management = [path("api/v1/", include("orders.urls")), path("api/v1/", include("reservations.urls"))]
dashboard: list[URLPattern | URLResolver] = [
    path("", include("accounts.page_urls")),
    path("", include("orders.page_urls")),
    path("", include("reservations.page_urls")),
    path("", include("payments.page_urls")),
    path("", include("catalogue.page_urls")),
    re_path("^(?P<rest>.+)/$", RedirectView.as_view(url="/dashboard/%(rest)s", query_string=True)),
]
data = [path("v1/", include("catalogue.urls")), path("v1/", include("payments.urls"))]

# What customers take with them of each app.
for its, rows in {
    "orders": orders_of,
    "menus": menus_of,
    "reservations": reservations_of,
    "payments": payments_of,
}.items():
    takeout.add(its, rows)

# One door for all: with the second factor of who has one, and with the limits on guessing.
admin.site.login = secure_admin_login(admin.site.login)  # type: ignore[method-assign]

urlpatterns = [
    *management,
    *data,
    re_path("^mcp/?$", mcp.serve),
    # Where agents find it, by SEP-2127 and by what was there before; and what there is to read of it.
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
    re_path("^photos(?:/|$)", include("catalogue.photo_urls")),
    path("guest/", include("reservations.guest_urls")),
    path("book/", include("reservations.book_urls")),
    re_path(
        r"^docs/openapi/(?P<name>management|data)\.json$",
        openapi.serve,
        {"living": {"data": discovery.with_prices}},
        name="openapi",
    ),
    # Where indexes of x402 look.
    path("openapi.json", openapi.serve, {"name": "data", "living": {"data": discovery.with_prices}}),
    path(".well-known/x402", well_known),
    path("metrics", metrics.serve),
    re_path("^docs/?$", docs.index, name="docs"),
    re_path("^docs/decisions/?$", docs.decision_index, name="docs-decisions"),
    re_path("^docs/api/(?P<name>[a-z]+)/?$", reference.redoc, name="docs-api"),
    re_path("^docs/api/(?P<name>[a-z]+)/try/?$", reference.swagger, name="docs-try"),
    re_path("^docs/(?P<name>(?:decisions/)?[0-9a-z-]+)/?$", docs.page, name="docs-page"),
    path("", landing, name="home"),
]
