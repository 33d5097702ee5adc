"""Buys twice with one wallet, by x402's own clients: through its session of MCP, which pays by itself, and over REST.

    python stock.py < {"url": ..., "key": ..., "tool": ..., "arguments": {...}, "rest": ADDRESS, "headers": {...}}

It runs in an environment of its own (tests/external_clients/test_mcp_clients.py), as those clients need `mcp` of
before 2.
"""
# The `mcp` that it imports is not the one that is checked with the rest.
# mypy: ignore-errors

import asyncio
import json
import sys
from importlib.metadata import version

from eth_account import Account
from mcp import ClientSession
from mcp.client.streamable_http import streamablehttp_client
from x402 import x402Client
from x402.http.clients.httpx import x402HttpxClient
from x402.http.utils import decode_payment_response_header
from x402.mcp import x402MCPSession
from x402.mechanisms.evm import EthAccountSigner
from x402.mechanisms.evm.exact import register_exact_evm_client


async def main(asked):
    wallet = x402Client()
    register_exact_evm_client(wallet, EthAccountSigner(Account.from_key(asked["key"])))
    async with (
        streamablehttp_client(asked["url"], headers=asked["headers"]) as (reads, writes, _),
        ClientSession(reads, writes) as plain,
    ):
        session = x402MCPSession(plain, wallet)
        await session.initialize()
        tools = [tool.name for tool in (await session.list_tools()).tools]
        called = await session.call_tool(asked["tool"], asked["arguments"])
    async with x402HttpxClient(wallet) as http:
        got = await http.get(asked["rest"], headers=asked["headers"], timeout=60)
    receipts = called.payment_response, decode_payment_response_header(got.headers["PAYMENT-RESPONSE"])
    return {
        "versions": {name: version(name) for name in ("mcp", "x402")},
        "tools": tools,
        "mcp": {"made": called.payment_made, "error": called.is_error, "body": called.raw_result.structuredContent},
        "rest": {"status": got.status_code, "body": got.json()},
        "transactions": [receipt.transaction for receipt in receipts],
    }


print(json.dumps(asyncio.run(main(json.load(sys.stdin)))))  # noqa: T201  # its answer
