"""up.json, which has the addresses, keys and processes of a run, and the panel that shows them."""

import json
import shlex
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from django.conf import settings
from rich.console import Console
from rich.panel import Panel
from rich.table import Table
from rich.text import Text

from framework.state_directory import up_record_path
from payments.chain.evm import to_checksum_address
from payments.chain.networks import NETWORKS
from payments.devchain.wallets import Wallet

KEYS = ("api_key", "other_api_key", "menu_api_key", "wide_api_key", "wide_other_api_key")
PROCESSES = ("up", "web", "worker", "postgres", "valkey", "chain", "facilitator")
ORDER = {
    "customer_id": "cust-1",
    "items": [{"menu_item_id": "dish-1", "quantity": 2, "notes": "no onions"}],
    "delivery_address": "Vesterbrogade 3, Copenhagen",
    "payment_method": "card",
}


def build_record(
    *,
    base_url: str,
    env: Mapping[str, str],
    wallets: Sequence[Wallet] | None,
    known: Mapping[str, Any],
    pids: Mapping[str, int | None],
) -> dict[str, Any]:
    """The content of up.json; what does not exist is None.

    `env` is the environment of the web server, `wallets` are those of the embedded chain, and `known` is the output of
    `manage.py seed`.
    """
    network = NETWORKS[env.get("PAYMENT_NETWORK", settings.PAYMENT_NETWORK)]
    token = env.get("TOKEN_ADDRESS")
    management = known.get("management") or {}
    admin = known.get("admin") or {}
    dashboard = known.get("dashboard")
    return {
        "base_url": base_url,
        "management": {"base_url": f"{base_url}/api/v1", **{name: management.get(name) for name in KEYS}},
        "data": {"base_url": base_url},
        "mcp_url": f"{base_url}/mcp",
        "admin": {"url": f"{base_url}/admin/", **{name: admin.get(name) for name in ("username", "password")}},
        "dashboard": dashboard
        and {"url": f"{base_url}/dashboard/", **{name: dashboard.get(name) for name in ("email", "password")}},
        "docs": {name: f"{base_url}/docs/openapi/{name}.json" for name in ("management", "data")},
        "chain": {
            "rpc_url": env["RPC_URL"],
            "chain_id": network.chain_id,
            "network": network.caip2,
            "usdc": to_checksum_address(network.asset),
            "token": to_checksum_address(token) if token else None,
            "pay_to": to_checksum_address(env["PAY_TO"]),
        },
        "facilitator_url": env["FACILITATOR_URL"],
        "database_url": env["DATABASE_URL"],
        "redis_url": env["REDIS_URL"],
        "wallets": wallets
        and [
            {
                "name": wallet.name,
                "address": to_checksum_address(wallet.address),
                "private_key": wallet.private_key,
                # A demo wallet is named after its tier.
                "tier": wallet.name,
            }
            for wallet in wallets
        ],
        "pids": {name: pids.get(name) for name in PROCESSES},
    }


def print_panel(
    up: Mapping[str, Any], *, state_dir: Path, is_default_dir: bool, logs: Path, reviewed: str | None
) -> None:
    """Print the addresses and keys, then requests to paste. `reviewed` is a restaurant with reviews, or None."""
    base_url, key, user = up["base_url"], up["management"]["api_key"], up["admin"]["username"]
    unknown = f"changed by you (`manage.py changepassword {user}` sets another)" if user else "none"
    table = Table.grid(padding=(0, 2))
    rows = {
        "Data API": f"{base_url}/v1",
        "  for agents": f"{up['mcp_url']} (MCP)",
        "Management API": up["management"]["base_url"],
        "  key": key or "none: run without --no-seed",
        "  with a menu": up["management"]["menu_api_key"] or "none",
        "Payments on": f"{up['chain']['network']}{', the development chain' if up['wallets'] else ''}",
        "Admin": up["admin"]["url"],
        "  user": user or "none",
        "  password": up["admin"]["password"] or unknown,
        **{f"OpenAPI, {name}": url for name, url in up["docs"].items()},
        "All of this": str(up_record_path(state_dir)),
        "Logs": str(logs),
    }
    for name, value in rows.items():
        # As text: [::1] in a URL is not markup.
        table.add_row(name, Text(value, overflow="fold"))
    console = Console(highlight=False)
    console.print(Panel(table, title="Tablewire is up", subtitle="Ctrl-C stops it", expand=False))
    lines = [f"curl '{base_url}/v1/restaurants?near=tivoli&open=now&limit=3'"]
    if key:
        headers = f"-H 'Authorization: Bearer {key}' -H 'Content-Type: application/json'"
        lines.append(f"curl -X POST {base_url}/api/v1/orders {headers} -d '{json.dumps(ORDER)}'")
    if reviewed and up["wallets"]:
        directory = "" if is_default_dir else f" --state-dir {shlex.quote(str(state_dir))}"
        lines.append(f"uv run manage.py pay '/v1/restaurants/{reviewed}?fields=core,reviews'{directory}")
    for line in lines:
        # Unwrapped, so that it can be pasted.
        console.print(line, markup=False, soft_wrap=True)
