"""The views of the pages for people. They show what the data API answers for free, under a rate limit of their own.

A page sets and reads no cookies, so that shared caches may store it, as they do the API's free answers.
"""

from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass
from datetime import datetime
from functools import partial, wraps
from typing import Any
from urllib.parse import quote_plus, urlencode

from django.conf import settings
from django.http import (
    Http404,
    HttpRequest,
    HttpResponse,
    HttpResponseBase,
    HttpResponsePermanentRedirect,
    StreamingHttpResponse,
)
from django.template.loader import render_to_string
from django.utils import timezone
from django.utils.text import capfirst
from django.utils.translation import get_language_info
from django.views.decorators.http import require_safe

from catalogue import places, search
from catalogue.agent_discovery import x402_manifest
from catalogue.attribution import attribution_lines
from catalogue.paywall import PUBLIC_CACHE
from catalogue.places.resolve_slug import CACHE_HEADERS
from catalogue.public_pages import labels, record, sitemap
from catalogue.public_pages.map import draw_map
from catalogue.public_pages.search_form import SearchForm, label_filter
from catalogue.public_pages.structured_data import restaurant_json_ld
from catalogue.public_pages.venues import NONE, GuestPages, find_guest_pages
from catalogue.search.geocoding.distance import Location
from catalogue.search.geocoding.landmarks import PlaceNotResolved
from catalogue.search.text.labels import translations
from catalogue.search.text.understanding import Part
from catalogue.search.text.vocabulary import MarketArea, Vocabulary, fold
from framework.api import conditional_requests
from framework.api.cache_headers import NO_STORE
from framework.api.rate_limits.middleware import count_call
from framework.api.urls import public_url
from framework.db import read_replica
from framework.errors import ApiError, InvalidRequest, Renamed
from framework.languages import (
    accepted_tags,
    activate_for,
    find_language,
    format_clock,
    format_day_of_month,
    format_number,
    language_of_country,
    list_languages,
)
from payments.interface import PAGES, SITEMAP_FILES, FixedLimit

FOLDER = "catalogue/public_pages"
SEARCH = "/restaurants"
# Search engines index the pages of cities, not those of each question.
INDEXED_PARAMETERS = {"market"}
# Of the nearest city, below the words about a place without restaurants.
MAX_POPULAR = 4

PublicView = Callable[..., HttpResponseBase]


@dataclass(frozen=True, slots=True)
class Visit:
    """A request and its language; `chosen` is the one in the address, which links keep."""

    request: HttpRequest
    language: str
    chosen: str

    def link(self, path: str, parameters: Mapping[str, str] | None = None, *, language: str | None = None) -> str:
        """Return a path with its parameters and the chosen language, or another one."""
        chosen = self.chosen if language is None else language
        query = urlencode({**(parameters or {}), **({"lang": chosen} if chosen else {})})
        return f"{path}?{query}" if query else path

    def restaurant(self, slug: str) -> str:
        return self.link(f"{SEARCH}/{slug}")

    def render(
        self,
        template: str,
        context: Mapping[str, Any],
        *,
        path: str = SEARCH,
        parameters: Mapping[str, str] | None = None,
        canonical: Mapping[str, str] | None = None,
        volatile: str | None = None,
        status: int = 200,
        headers: Mapping[str, str] | None = None,
    ) -> HttpResponse:
        """Return a page. `canonical` are the parameters of its canonical address; `volatile` is a text in it that is
        no part of its ETag, the cursor.
        """

        def indexed_url(language: str) -> str:
            # English has the address without a language.
            code = "" if language == settings.LANGUAGE_CODE else language
            return public_url(self.link(path, canonical, language=code))

        shared = {
            "language": self.language,
            "is_rtl": get_language_info(self.language)["bidi"],
            "lang": self.chosen,
            "search_url": self.link(SEARCH),
            "canonical_url": indexed_url(self.chosen),
            "default_url": indexed_url(""),
            "languages": [
                {
                    "code": code,
                    "name": name,
                    "is_current": code == self.language,
                    "url": self.link(path, parameters, language=code),
                    "alternate": indexed_url(code),
                }
                for code, name in list_languages()
            ],
        }
        html = render_to_string(f"{FOLDER}/{template}.html", {**shared, **context})
        varies = {} if self.chosen else {"Vary": "Accept-Language"}
        sent = {"Content-Language": self.language, **varies, **(headers or {})}
        if status != 200:
            return HttpResponse(html, status=status, headers={**NO_STORE, **sent})
        stable = html.replace(quote_plus(volatile), "") if volatile else html
        return conditional_requests.conditional_response(
            self.request,
            html.encode(),
            etag=f"W/{conditional_requests.content_etag(stable.encode())}",
            content_type="text/html; charset=utf-8",
            headers={"Cache-Control": PUBLIC_CACHE, **sent},
        )


def public_page(view: PublicView, *, limit: FixedLimit = PAGES) -> PublicView:
    """Call the view in the language of the guest, with a Visit; 429 above the limit of the address."""

    @require_safe
    @wraps(view)
    def wrapper(request: HttpRequest, **params: str) -> HttpResponseBase:
        path = request.path
        if path.endswith("/"):
            query = request.META.get("QUERY_STRING", "")
            return HttpResponsePermanentRedirect(path.rstrip("/") + (f"?{query}" if query else ""))
        with activate_for(request) as language:
            visit = Visit(request, language, find_language(request.GET.get("lang", "")))
            usage = count_call(limit.policy, limit.allowance(request))
            if usage.count > usage.limit:
                wait_s = str(max(usage.wait_s, 1))
                return visit.render("too_many", {"limit": usage.limit}, status=429, headers={"Retry-After": wait_s})
            return view(visit, **params)

    return wrapper


@public_page
def search_restaurants(visit: Visit) -> HttpResponse:
    """The form, the hits with their map, and how the words were understood. Without parameters the hits of one city.

    404 if the place is unknown or in no market, so that caches and crawlers do not keep the page; 400 with the message
    of the API if it refuses another parameter.
    """
    now = timezone.now()
    vocabulary = Vocabulary.load()
    cuisine_labels = {**vocabulary.cuisines, **(translations(visit.language) or {})}
    form = SearchForm.read(visit.request.GET, vocabulary=vocabulary, cuisine_labels=cuisine_labels)
    local = None if form.values else _choose_city(visit, vocabulary)
    scope = {"market": local.slug} if local else {}
    context: dict[str, Any] = {"form": form, "local": local}
    page, status = None, 200
    try:
        query = search.Query(**form.parse() | scope)
        page = read_replica.read_from_replica(lambda: search.search_restaurants(query, now=now))
    except PlaceNotResolved as error:
        status = 404
        unknown = context["unknown"] = _describe_unknown_place(visit, form, error)
        if unknown["nearest"] and not unknown["is_country"]:
            context["nearest_cards"] = read_replica.read_from_replica(
                partial(_popular_cards, visit, form, market=unknown["nearest"][0]["slug"], now=now)
            )
    except InvalidRequest as error:
        status = 400
        form.add_error(error)
        context["suggestions"] = _suggest(visit, form, error)
    else:
        context |= read_replica.read_from_replica(partial(_describe_page, visit, form, page, scope=scope, now=now))
    market = vocabulary.markets.get(form.values.get("market", ""))
    is_indexed = form.values.keys() <= INDEXED_PARAMETERS and page is not None
    has_cities = "near" not in form.values or status == 404
    # The nearest ones are shown above, with their distances.
    nearest = {each["slug"] for each in context.get("unknown", {}).get("nearest", ())}
    context |= {
        "market": market,
        "in_one_city": bool(market or local),
        # The other filters stay where they are.
        "all_cities_url": visit.link(SEARCH, form.without("market")) if market and len(form.values) > 1 else "",
        "is_indexed": is_indexed,
        "cities": _cities(visit, form, market or local, without=nearest) if has_cities else [],
    }
    return visit.render(
        "search",
        context,
        parameters=form.values,
        canonical={"market": market.slug} if market and is_indexed else {},
        volatile=page.next_cursor if page else None,
        status=status,
    )


def _choose_city(visit: Visit, vocabulary: Vocabulary) -> MarketArea | None:
    """Return a city for guests who named none: of the browser's country, else of its language, else the first one."""
    areas = sorted(vocabulary.markets.values(), key=lambda area: area.name)
    # An address with a language is one page for all browsers.
    tags = [] if visit.chosen else accepted_tags(visit.request)
    countries = [tag.rpartition("-")[2].upper() for tag in tags]
    of_country = (area for country in countries for area in areas if area.country == country)
    of_language = (area for area in areas if language_of_country(area.country) == visit.language)
    return next(of_country, None) or next(of_language, None) or next(iter(areas), None)


def _suggest(visit: Visit, form: SearchForm, error: InvalidRequest) -> list[dict[str, str]]:
    return [
        {"name": str(name), "url": visit.link(SEARCH, form.without() | _replace(error.param, str(name)))}
        for name in error.extra.get("suggestions", ())
        if error.param in form.values
    ]


def _describe_unknown_place(visit: Visit, form: SearchForm, error: PlaceNotResolved) -> dict[str, Any]:
    """Return the name of a place without restaurants, the city that it is not in, and the nearest cities or similar
    names.
    """
    areas, typed = form.vocabulary.markets, form.values.get("near", "")
    # As the guest writes the name, in any language.
    name = capfirst(typed) if error.param == "near" and fold(typed) != fold(error.place) else error.place
    return {
        "name": name if error.place else typed,
        "is_known": bool(error.place),
        "outside": areas.get(form.values.get("market", "")) if error.place else None,
        "is_country": any(metres is None for _, metres in error.nearest),
        "nearest": [
            {
                "name": areas[slug].name,
                "slug": slug,
                "distance": labels.format_distance(int(metres)) if metres and metres >= 1000 else "",
                "url": visit.link(SEARCH, {**form.without("near", "radius"), "market": slug}),
            }
            for slug, metres in error.nearest
            if slug in areas
        ],
        "similar": [] if error.place else _suggest(visit, form, error),
    }


def _replace(parameter: str | None, value: str | None) -> dict[str, str]:
    return {parameter: value} if parameter and value else {}


def _describe_value(part: Part, form: SearchForm) -> str:
    """The value that words became: of several they are a list, and cuisines have names."""
    values = part.value if isinstance(part.value, list | tuple) else [part.value]
    names = form.cuisine_labels if part.parameter == "cuisine" else {}
    return ", ".join(names.get(value, str(value)) for value in values)


def _cities(
    visit: Visit, form: SearchForm, current: MarketArea | None, *, without: Collection[str]
) -> list[dict[str, Any]]:
    """Links to the cities: first the one that is shown, as phones have them in one line. The filters stay."""
    areas = (area for area in form.vocabulary.markets.values() if area.slug not in without)
    kept = form.without("near", "radius", "market")
    return [
        {
            "name": area.name,
            "url": visit.link(SEARCH, {**kept, "market": area.slug}),
            "is_current": area == current,
        }
        for area in sorted(areas, key=lambda area: (area != current, area.name))
    ]


def _popular_cards(visit: Visit, form: SearchForm, *, market: str, now: datetime) -> list[dict[str, Any]]:
    """The first restaurants of a city, for guests whose place has none. The queries of a search, and one."""
    hits = [
        hit.values for hit in search.search_restaurants(search.Query(market=market, limit=MAX_POPULAR), now=now).hits
    ]
    pages = find_guest_pages([hit["slug"] for hit in hits])
    return [make_card(visit, hit, form.cuisine_labels, pages=pages.get(hit["slug"], NONE), now=now) for hit in hits]


def _describe_page(
    visit: Visit, form: SearchForm, page: search.Page, *, scope: Mapping[str, str], now: datetime
) -> dict[str, Any]:
    """Return what the template shows of a page of hits; `scope` are parameters beside those of the form. At most three
    queries.
    """
    values = [hit.values for hit in page.hits]
    near = page.resolved
    here = (near.name, Location(near.lat, near.lng)) if near else None
    is_city = near is not None and near.kind == "city"
    pins = record.number_pins(values, href=lambda number, _hit: f"#r{number}")
    drawn = draw_map(pins, here=None if is_city else here) if pins else None
    pages = find_guest_pages([hit["slug"] for hit in values])
    lines = {line["source"]: line for line in page.attribution}
    for line in attribution_lines(drawn.sources if drawn else ()):
        lines.setdefault(line["source"], line)
    return {
        "cards": [
            make_card(visit, hit, form.cuisine_labels, pages=pages.get(hit["slug"], NONE), number=number, now=now)
            for number, hit in enumerate(values, 1)
        ],
        "map": drawn,
        "near": ", ".join(dict.fromkeys(filter(None, (near.name, near.city)))) if near else "",
        "alternatives": [
            {
                "name": ", ".join(filter(None, (each.name, each.city))),
                "url": visit.link(SEARCH, {**form.without("market"), "near": each.near}),
            }
            for each in page.alternatives
            if each.near and "near" in form.values
        ],
        "understood": [
            {"words": part.words, "filter": label_filter(part.parameter), "value": _describe_value(part, form)}
            for part in page.understood
            if part.parameter not in (None, "q")
        ],
        "matched": page.matched,
        "without": [
            {
                "filter": label_filter(each.parameter),
                "radius": labels.format_distance(int(each.value)) if each.value else "",
                "count": f"{format_number(each.total.value)}{'' if each.total.is_exact else '+'}",
                "url": visit.link(SEARCH, form.without(each.parameter) | _replace(each.parameter, each.value)),
            }
            for each in page.without or ()
            if each.parameter in form.values or (each.parameter == "radius" and "near" in form.values)
        ],
        "first_url": visit.link(SEARCH, form.without()) if "cursor" in form.values else "",
        "next_url": visit.link(SEARCH, {**form.without(), **scope, "cursor": page.next_cursor})
        if page.next_cursor
        else "",
        "attribution": lines.values(),
    }


def make_card(
    visit: Visit,
    hit: Mapping[str, Any],
    cuisine_labels: Mapping[str, str],
    *,
    pages: GuestPages = NONE,
    number: int = 0,
    now: datetime,
) -> dict[str, Any]:
    """Return a hit as card.html shows it."""
    main = hit["cuisines"][0] if hit["cuisines"] else ""
    metres, offer = hit["distance_m"], hit["flow_offer"]
    return {
        **hit,
        **labels.choose_drawing(hit["cuisines"]),
        "number": number,
        "url": visit.restaurant(hit["slug"]),
        "cuisine": cuisine_labels.get(main, hit["cuisine"]) if hit["cuisine"] else "",
        "price": labels.price_sign(hit["price_level"]),
        "stars": labels.format_rating(hit["rating"]),
        "reviews": format_number(hit["review_count"]),
        "distance": labels.format_distance(metres) if metres is not None else "",
        "state": labels.format_state(hit["open_now"], labels.parse_moment(hit["next_change"]), now=now),
        "offer": offer and {"percent": offer["percent"], "when": _format_offer(offer)},
        "pages": pages,
    }


def _format_offer(offer: Mapping[str, Any]) -> str:
    moment = labels.parse_moment(f"{offer['date']}T{offer['time']}")
    return f"{format_day_of_month(moment)}, {format_clock(moment)}" if moment else ""


@public_page
def show_restaurant(visit: Visit, *, slug: str) -> HttpResponseBase:
    """The page of a restaurant; 301 for a former slug and for an id, 410 for an erased one, 404 with similar ones."""
    now, vocabulary = timezone.now(), Vocabulary.load()
    try:
        load = partial(record.load_page, slug, url_of=visit.restaurant, vocabulary=vocabulary, now=now)
        page = read_replica.read_from_replica(load)
    except Renamed as renamed:
        return HttpResponsePermanentRedirect(visit.restaurant(renamed.name), headers=CACHE_HEADERS)
    except places.Gone:
        return visit.render("gone", {}, status=410, headers=CACHE_HEADERS)
    except places.RestaurantNotFound as missing:
        if known := record.find_slug(slug):
            error: ApiError = places.missing_error(known)
            return (
                HttpResponsePermanentRedirect(visit.restaurant(error.name), headers=CACHE_HEADERS)
                if isinstance(error, Renamed)
                else visit.render("gone", {}, status=410, headers=CACHE_HEADERS)
            )
        similar = [{"name": each, "url": visit.restaurant(each)} for each in missing.extra.get("suggestions", ())]
        return visit.render("not_found", {"similar": similar}, status=404, headers=CACHE_HEADERS)
    return visit.render("restaurant", _describe_restaurant(visit, page, vocabulary, now=now), path=f"{SEARCH}/{slug}")


def _describe_restaurant(
    visit: Visit, page: record.RestaurantPage, vocabulary: Vocabulary, *, now: datetime
) -> dict[str, Any]:
    """Return what the template shows of a restaurant. One query for the labels of a language but English."""
    core, hours = page.core, page.core["hours"]
    cuisine_labels = {**vocabulary.cuisines, **(translations(visit.language) or {})}
    cuisines = [
        {"label": cuisine_labels.get(each, each), "url": visit.link(SEARCH, _cuisine_in(each, core["market"]))}
        for each in core["cuisines"]
    ]
    url = public_url(f"{SEARCH}/{core['slug']}")
    prices = x402_manifest.cached_prices.get_or_stale(max_age_s=x402_manifest.MAX_AGE_S) or {}
    return {
        "page": page,
        "core": core,
        **labels.choose_drawing(core["cuisines"]),
        "cuisines": cuisines,
        "place": ", ".join(filter(None, (core["neighborhood"], page.city))),
        "city_url": visit.link(SEARCH, {"market": core["market"]}),
        "price": labels.price_sign(core["price_level"]),
        "stars": labels.format_rating(core["rating"]),
        "reviews": format_number(core["review_count"]),
        "is_open": hours["open_now"],
        "state": labels.format_state(hours["open_now"], labels.parse_moment(hours["next_change"]), now=now),
        "attributes": labels.label_attributes(core["attributes"], known=vocabulary.attributes),
        "website": labels.web_address(core["website"]),
        "menu_url": labels.web_address(core["menu_url"]),
        "offers": [
            {"percent": slot.percent, "when": _format_offer({"date": slot.date, "time": f"{slot.time:%H:%M}"})}
            for slot in page.offers
        ],
        "nearest": [
            make_card(visit, hit, cuisine_labels, number=number, now=now) for number, hit in enumerate(page.nearest, 1)
        ],
        "map": page.map,
        "image": public_url(page.pages.photo) if page.pages.photo else "",
        "json_ld": restaurant_json_ld(
            core,
            url=url,
            cuisines=[each["label"] for each in cuisines],
            pages=page.pages,
            is_in_business=page.is_in_business,
            today=page.today,
        ),
        "api_url": public_url(f"/v1/restaurants/{core['slug']}"),
        "prices": x402_manifest.price_ranges(prices),
        "attribution": page.attribution,
    }


def _cuisine_in(cuisine: str, market: str) -> dict[str, str]:
    return {"market": market, "cuisine": cuisine}


@partial(public_page, limit=SITEMAP_FILES)
def show_sitemap(_visit: Visit, *, number: str) -> HttpResponseBase:
    """A file of the sitemap, written while it is read."""
    keys = sitemap.find_range(int(number))
    if not keys:
        raise Http404
    content = sitemap.render_urlset(sitemap.read_addresses(*keys))
    headers = {"Cache-Control": f"public, max-age={int(sitemap.MAX_AGE_S)}"}
    return StreamingHttpResponse(content, content_type=sitemap.XML, headers=headers)
