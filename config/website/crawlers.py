"""Documents at well-known paths for crawlers, agents and reporters: robots.txt, sitemap.xml and security.txt."""

from datetime import UTC, timedelta

from django.conf import settings
from django.http import HttpRequest, HttpResponse
from django.utils import timezone
from django.views.decorators.http import require_safe

from catalogue.public_pages import sitemap as restaurants
from catalogue.search.text.vocabulary import Vocabulary
from config.website import docs, reference
from framework.api import cacheable_documents, error_handler
from framework.api.urls import public_url
from framework.errors import NotFound, ServiceUnavailable

TEXT = "text/plain; charset=utf-8"
# Pages behind a sign-in or a secret link.
PRIVATE_PATHS = ("/account/", "/admin/", "/dashboard", "/guest/", "/mailbox")
# Searches without end; those of a city may be read.
SEARCHES = tuple(f"/restaurants?*{name}=" for name in ("cursor", "q", "near", "cuisine"))
# RFC 9116 wants a date less than a year ahead.
CONTACT_LIFETIME = timedelta(days=180)


@require_safe
def robots(request: HttpRequest) -> HttpResponse:
    """Everything public may be read, by agents too."""
    lines = [
        "User-agent: *",
        *(f"Disallow: {path}" for path in (*PRIVATE_PATHS, *SEARCHES)),
        f"Sitemap: {public_url('/sitemap.xml')}",
    ]
    return cacheable_documents.document_response(request, _join(lines), content_type=TEXT)


@require_safe
def sitemap(request: HttpRequest) -> HttpResponse:
    """The index of the sitemaps."""
    files = restaurants.list_files()
    if files is None:
        return error_handler.error_response(ServiceUnavailable(), request)
    content = restaurants.render_index(["/sitemap-pages.xml", *files])
    return cacheable_documents.document_response(request, content.encode(), content_type=restaurants.XML)


@require_safe
def pages_sitemap(request: HttpRequest) -> HttpResponse:
    """The public pages that are not of one restaurant; not the operator's own, which are on another site."""
    pages = [docs.guides(), docs.decisions()]
    apis = [reference.load(name) for name in reference.TITLES]
    cities = sorted(Vocabulary.load().markets)
    paths = [
        *("/", "/restaurants"),
        *([] if settings.TERMS_URL else ["/terms"]),
        *([] if settings.PRIVACY_URL else ["/privacy"]),
        *(f"/restaurants?market={city}" for city in cities),
        "/docs",
        *(guide.url for guides in pages for guide in guides.values()),
        *(url for api in apis for url in (api.url, *(group.url for group in api.groups.values()))),
    ]
    content = "".join(restaurants.render_urlset((path, "") for path in paths))
    return cacheable_documents.document_response(request, content.encode(), content_type=restaurants.XML)


def security(request: HttpRequest) -> HttpResponse:
    """Where vulnerabilities are reported, by RFC 9116; 404 while SECURITY_CONTACT is not set."""
    if refused := error_handler.reject_unsafe_method(request):
        return refused
    if not settings.SECURITY_CONTACT:
        return error_handler.error_response(NotFound(), request)
    today = timezone.now().astimezone(UTC).replace(hour=0, minute=0, second=0, microsecond=0)
    lines = [
        f"Contact: {settings.SECURITY_CONTACT}",
        f"Expires: {today + CONTACT_LIFETIME:%Y-%m-%dT%H:%M:%SZ}",
        "Preferred-Languages: en",
        f"Canonical: {public_url('/.well-known/security.txt')}",
    ]
    return cacheable_documents.document_response(request, _join(lines), content_type=TEXT)


def _join(lines: list[str]) -> bytes:
    return "".join(f"{line}\n" for line in lines).encode()
