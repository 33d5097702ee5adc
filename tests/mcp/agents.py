"""An agent: the official Python client of MCP, over HTTP, with a wallet where it has one."""

import itertools
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any, Literal

import httpx2
from mcp import Client
from mcp.client.session import ElicitationFnT
from mcp.client.streamable_http import streamable_http_client
from mcp_types import CallToolResult

from payments.devchain.wallets import Wallet
from payments.x402.proofs import PAYMENT_META
from tests.mcp.client import payment_for, price_of

# How a client finds out what a server speaks: by asking it, or by the handshake of before.
Mode = Literal["auto", "legacy"]
SPOKEN: dict[Mode, str] = {"auto": "2026-07-28", "legacy": "2025-11-25"}
addresses = (f"198.18.{number // 250 % 250}.{number % 250 + 1}" for number in itertools.count())


@asynccontextmanager
async def connected(
    url: str, mode: Mode, *, person: ElicitationFnT | None = None, key: str | None = None
) -> AsyncIterator[Client]:
    """A client that calls from an address that has not called before; `person` answers what is asked of one."""
    headers = {"X-Forwarded-For": next(addresses)} | ({"Authorization": f"Bearer {key}"} if key else {})
    async with httpx2.AsyncClient(headers=headers, timeout=60) as http:
        transport = streamable_http_client(url, http_client=http)
        async with Client(transport, mode=mode, elicitation_callback=person) as client:
            assert client.protocol_version == SPOKEN[mode]
            yield client


def structured_content(result: CallToolResult) -> Any:
    """A result as it was sent."""
    return result.model_dump(mode="json", by_alias=True, exclude_none=True)


def content(result: CallToolResult) -> Any:
    """What a tool gave. Fails where it has refused."""
    assert not result.is_error, result.content
    return result.structured_content


async def paid(client: Client, wallet: Wallet, tool: str, **arguments: Any) -> CallToolResult:
    """Call a tool, be told its price, and call it again with the payment."""
    asked = price_of(structured_content(await client.call_tool(tool, arguments)))
    return await client.call_tool(tool, arguments, meta=beside(payment_for(wallet, asked)))


def beside(payment: Any) -> Any:
    """What stands beside the arguments of a call that is paid for."""
    return {PAYMENT_META: payment}
