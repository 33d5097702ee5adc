"""The clients that the generated operations take."""

from typing import Any

import httpx
from attrs import define, field

from tablewire_client import data, management
from tablewire_client.http_clients import AsyncHttpClient, HttpClient, Rules
from tablewire_client.payment import Payer
from tablewire_client.retries import Retries

TIMEOUT_S = 30.0
DEFAULT_RETRIES = Retries()


class RuledClient:
    """Makes the httpx clients of a generated client follow the rules, also after `with_headers` and `with_timeout`."""

    rules: Rules
    _client: httpx.Client | None
    _async_client: httpx.AsyncClient | None
    _base_url: str
    _headers: dict[str, str]
    _cookies: dict[str, str]
    _timeout: httpx.Timeout | None
    _httpx_args: dict[str, Any]

    def get_httpx_client(self) -> httpx.Client:
        """The client of the `sync` functions, made when it is first needed."""
        if self._client is None:
            self._client = HttpClient(self.rules, **self._options())
        return self._client

    def get_async_httpx_client(self) -> httpx.AsyncClient:
        """The client of the `asyncio` functions, made when it is first needed."""
        if self._async_client is None:
            self._async_client = AsyncHttpClient(self.rules, **self._options())
        return self._async_client

    def _options(self) -> dict[str, Any]:
        options = {"base_url": self._base_url, "headers": self._headers, "cookies": self._cookies}
        # A restaurant that was renamed is answered with a redirect.
        return options | {"timeout": self._timeout, "follow_redirects": True} | self._httpx_args


@define
class ManagementClient(RuledClient, management.Client):
    """A client of the management API."""

    rules: Rules = field(kw_only=True)


@define
class DataClient(RuledClient, data.Client):
    """A client of the data API."""

    rules: Rules = field(kw_only=True)


def management_client(
    base_url: str,
    api_key: str,
    *,
    retries: Retries = DEFAULT_RETRIES,
    timeout_s: float = TIMEOUT_S,
    **httpx_options: Any,
) -> ManagementClient:
    """A client of the management API, version 2, with the key of a venue.

    `httpx_options` are those of httpx.Client and httpx.AsyncClient, such as `verify` and `proxy`.
    """
    return ManagementClient(
        base_url=base_url,
        headers={"Authorization": f"Bearer {api_key}"},
        timeout=httpx.Timeout(timeout_s),
        httpx_args=httpx_options,
        rules=Rules(retries, payer=None),
    )


def data_client(
    base_url: str,
    *,
    api_key: str | None = None,
    payer: Payer | None = None,
    retries: Retries = DEFAULT_RETRIES,
    timeout_s: float = TIMEOUT_S,
    **httpx_options: Any,
) -> DataClient:
    """A client of the restaurant data API.

    Free calls need neither key nor payer. `api_key` is the key of an account with linked wallets or a plan, or the
    token of a wallet session; with it, calls have that tier's prices and limits. Without a payer, a paid call raises
    ApiError with the status 402.
    """
    return DataClient(
        base_url=base_url,
        headers={"Authorization": f"Bearer {api_key}"} if api_key else {},
        timeout=httpx.Timeout(timeout_s),
        httpx_args=httpx_options,
        rules=Rules(retries, payer),
    )
