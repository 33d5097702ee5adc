"""The way of an API call from its doorway to its view: past the middleware that pages alone need."""

from collections.abc import Callable, Mapping, Sequence
from functools import cache, lru_cache
from typing import cast

from django.conf import settings
from django.core.handlers.exception import convert_exception_to_response
from django.http import HttpRequest, HttpResponse, HttpResponseBase
from django.http.request import split_domain_port, validate_host
from django.template.response import SimpleTemplateResponse
from django.urls import ResolverMatch, URLPattern, URLResolver, get_resolver
from django.urls.resolvers import RoutePattern

from framework.api.fast_path import headers

ErrorHook = Callable[[HttpRequest, Exception], None]


class ApiDispatcher:
    """The way to a view without sessions, messages, CSRF and whatever else serves people with browsers.

    `on_error` hears of what no view has foreseen, before Django makes it a 500.
    """

    def __init__(self, *, on_error: ErrorHook) -> None:
        self.on_error = on_error
        self.answer = convert_exception_to_response(self.call_view)

    def __call__(self, request: HttpRequest) -> HttpResponseBase:
        """The answer of the view, or what Django's handlers make of an error; for a Host that is not ours 400."""
        response = cast("HttpResponseBase", self.answer(request))
        headers.set_headers(response, SECURITY_HEADERS)
        if isinstance(response, HttpResponse) and "Content-Length" not in response.headers:
            response.headers["Content-Length"] = str(len(response.content))
        return response

    def call_view(self, request: HttpRequest) -> HttpResponseBase:
        """The answer of the view. Raises DisallowedHost and Resolver404."""
        if not _is_allowed_host(request.META.get("HTTP_HOST", ""), tuple(settings.ALLOWED_HOSTS)):
            # Says what is wrong with it.
            request.get_host()
        request.resolver_match = found = resolve(request.path_info)
        try:
            response: HttpResponseBase = found.func(request, *found.args, **found.kwargs)
            return response.render() if isinstance(response, SimpleTemplateResponse) else response
        except Exception as error:
            self.on_error(request, error)
            raise


def resolve(path: str) -> ResolverMatch:
    """What serves this path. Raises Resolver404.

    Django's own resolver tries each address of the site in turn, and makes a match of each level on the way.
    """
    for start, patterns in _addresses(settings.ROOT_URLCONF).items():
        if path.startswith(start):
            rest = path.removeprefix(start)
            for pattern in patterns:
                if found := pattern.resolve(rest):
                    # Logs and traces name the address whole.
                    found.route = start.removeprefix("/") + found.route.removeprefix("^")
                    return found
    return get_resolver().resolve(path)


@cache
def _addresses(urls: str) -> Mapping[str, Sequence[URLPattern]]:
    """The patterns of the routers, by the words that all their paths start with."""
    found: dict[str, list[URLPattern]] = {}
    for resolver in get_resolver(urls).url_patterns:
        if isinstance(resolver, URLResolver) and isinstance(resolver.pattern, RoutePattern):
            patterns = resolver.url_patterns
            if all(isinstance(pattern, URLPattern) for pattern in patterns):
                found.setdefault(f"/{resolver.pattern}", []).extend(cast("list[URLPattern]", patterns))
    return found


@lru_cache(maxsize=256)
def _is_allowed_host(host: str, allowed: tuple[str, ...]) -> bool:
    """Whether Django would take this Host, which few callers vary."""
    domain, _ = split_domain_port(host)
    return bool(domain) and validate_host(domain, allowed)


# What SecurityMiddleware and XFrameOptionsMiddleware say of pages holds for whoever opens an answer in a browser.
SECURITY_HEADERS = (
    ("X-Frame-Options", "DENY"),
    ("X-Content-Type-Options", "nosniff"),
    ("Referrer-Policy", "same-origin"),
    ("Cross-Origin-Opener-Policy", "same-origin"),
)
