"""Calls the view of an API request without the middleware that only pages need."""

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
    """Resolves and calls the view. `on_error` receives unexpected exceptions before Django converts them to a 500."""

    def __init__(self, *, on_error: ErrorHook) -> None:
        self.on_error = on_error
        self.answer = convert_exception_to_response(self.call_view)

    def __call__(self, request: HttpRequest) -> HttpResponseBase:
        """The response of the view, or of Django's error handlers; 400 for a Host that is not ours."""
        response = cast("HttpResponseBase", self.answer(request))
        headers.set_headers(response, SECURITY_HEADERS)
        if isinstance(response, HttpResponse) and "Content-Length" not in response.headers:
            response.headers["Content-Length"] = str(len(response.content))
        return response

    def call_view(self, request: HttpRequest) -> HttpResponseBase:
        """The response of the view. Raises DisallowedHost and Resolver404."""
        if not _is_allowed_host(request.META.get("HTTP_HOST", ""), tuple(settings.ALLOWED_HOSTS)):
            # Raises DisallowedHost with the reason.
            request.get_host()
        request.resolver_match = match = resolve(request.path_info)
        try:
            response: HttpResponseBase = match.func(request, *match.args, **match.kwargs)
            return response.render() if isinstance(response, SimpleTemplateResponse) else response
        except Exception as error:
            self.on_error(request, error)
            raise


def resolve(path: str) -> ResolverMatch:
    """The view of this path. Raises Resolver404.

    Django's resolver tries all URL patterns of the site in turn, and creates a match for each level of includes.
    """
    for start, patterns in _router_patterns(settings.ROOT_URLCONF).items():
        if path.startswith(start):
            rest = path.removeprefix(start)
            for pattern in patterns:
                if match := pattern.resolve(rest):
                    # Logs and traces show the whole route.
                    match.route = start.removeprefix("/") + match.route.removeprefix("^")
                    return match
    return get_resolver().resolve(path)


@cache
def _router_patterns(urls: str) -> Mapping[str, Sequence[URLPattern]]:
    """The patterns of the routers, by the prefix of their paths."""
    by_prefix: dict[str, list[URLPattern]] = {}
    for resolver in get_resolver(urls).url_patterns:
        if isinstance(resolver, URLResolver) and isinstance(resolver.pattern, RoutePattern):
            patterns = resolver.url_patterns
            if all(isinstance(pattern, URLPattern) for pattern in patterns):
                by_prefix.setdefault(f"/{resolver.pattern}", []).extend(cast("list[URLPattern]", patterns))
    return by_prefix


@lru_cache(maxsize=256)
def _is_allowed_host(host: str, allowed: tuple[str, ...]) -> bool:
    """Whether ALLOWED_HOSTS has this Host."""
    domain, _ = split_domain_port(host)
    return bool(domain) and validate_host(domain, allowed)


# The headers of SecurityMiddleware and XFrameOptionsMiddleware, for responses that are opened in a browser.
SECURITY_HEADERS = (
    ("X-Frame-Options", "DENY"),
    ("X-Content-Type-Options", "nosniff"),
    ("Referrer-Policy", "same-origin"),
    ("Cross-Origin-Opener-Policy", "same-origin"),
)
