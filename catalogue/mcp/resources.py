"""Resources: prices, vocabularies, the account of the caller, and restaurants."""

import re
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

from django.http import HttpRequest
from django.utils import timezone

from catalogue import responses
from catalogue.agent_discovery import x402_manifest
from catalogue.filters.param_types import SLUG
from catalogue.mcp import completion
from catalogue.mcp.tools.restaurants import core_record
from catalogue.places import RestaurantNotFound
from framework.api.renderers import JSONRenderer
from framework.data_files import read_toml
from framework.mcp.resources import Resource
from framework.mcp.responses import add_notice
from payments.interface import MeRecord, caller_of, load_profile

# Other texts are not looked up.
SLUG_PATTERN = re.compile(f"(?=.{{1,120}}$){SLUG}")


def account(request: HttpRequest) -> bytes:
    profile = load_profile(caller_of(request), usage=request.usage, now=timezone.now())  # type: ignore[attr-defined]
    return JSONRenderer().render(MeRecord(profile).data)


def restaurant(_request: HttpRequest, *, slug: str) -> bytes:
    """The result of get_restaurant, which is free. Raises RestaurantNotFound, Renamed and Gone."""
    if not SLUG_PATTERN.fullmatch(slug):
        raise RestaurantNotFound
    return add_notice(core_record(slug, now=timezone.now()), responses.NOTICE)


READERS: Mapping[str, Callable[..., bytes]] = {
    # At most a minute old.
    "prices": lambda _request: x402_manifest.price_list(),
    "markets": lambda _request: responses.markets(now=timezone.now()).body,
    "cuisines": lambda _request: responses.cuisines({}, now=timezone.now()).body,
    "attributes": lambda _request: responses.attributes(now=timezone.now()).body,
    "account": account,
    "restaurant": restaurant,
}
COMPLETERS = {"restaurant": {"slug": completion.complete_slug}}
RESOURCES: Sequence[Resource] = [
    Resource(name=name, read=READERS[name], completers=COMPLETERS.get(name, {}), **declaration)
    for name, declaration in read_toml(Path(__file__).with_suffix(".toml")).items()
]
