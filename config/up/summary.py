"""up.json, which has the addresses, keys and processes of a run, and the panel that shows them."""

import json
import os
import shlex
import sys
import webbrowser
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from django.conf import settings
from rich.console import Console
from rich.style import Style
from rich.text import Text

from framework.state_directory import up_record_path
from payments.chain.evm import to_checksum_address
from payments.chain.networks import NETWORKS
from payments.devchain.wallets import Wallet

KEYS = ("api_key", "other_api_key", "menu_api_key", "wide_api_key", "wide_other_api_key")
NAME_WIDTH = 21
PROCESSES = ("up", "web", "worker", "postgres", "valkey", "chain", "facilitator")
ORDER: dict[str, Any] = {
    "customer_id": "cust-1",
    # On the menu of the demo venue (orders/demo/menu.toml).
    "items": [{"menu_item_id": "margherita", "quantity": 2, "notes": "no basil"}],
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
    dashboard = known.get("dashboard") or {}
    venue = dashboard.get("venue")
    return {
        "base_url": base_url,
        "management": {"base_url": f"{base_url}/api/v1", **{name: management.get(name) for name in KEYS}},
        "data": {"base_url": base_url},
        "mcp_url": f"{base_url}/mcp",
        "admin": {"url": f"{base_url}/admin/", **{name: admin.get(name) for name in ("username", "password")}},
        "dashboard": {
            "url": f"{base_url}/dashboard/",
            **{name: dashboard.get(name) for name in ("email", "password", "venue")},
        }
        if dashboard
        else None,
        "pages": build_pages(
            base_url, venue=venue, has_mailbox=bool(env.get("MAILBOX_DIR") and not env.get("EMAIL_URL"))
        ),
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


def build_pages(base_url: str, *, venue: str | None, has_mailbox: bool) -> dict[str, str | None]:
    """The addresses that a person opens; those of the demo venue are None where there is none."""
    return {
        "landing": f"{base_url}/",
        "order_board": venue and f"{base_url}/dashboard/{venue}/board",
        "reservations": venue and f"{base_url}/dashboard/{venue}/reservations",
        "booking_page": venue and f"{base_url}/book/{venue}",
        "ordering_page": venue and f"{base_url}/order/{venue}",
        "docs": f"{base_url}/docs",
        "mailbox": f"{base_url}/mailbox" if has_mailbox else None,
    }


def print_panel(
    up: Mapping[str, Any], *, state_dir: Path, is_default_dir: bool, logs: Path, reviewed: str | None
) -> None:
    """Print pages and sign-ins, then addresses and keys, then requests to paste.

    `reviewed` is a restaurant with reviews, or None. Lines are neither wrapped nor framed, so that every address can
    be clicked, and every request pasted, in a terminal of any width.
    """
    base_url, management, pages, admin = up["base_url"], up["management"], up["pages"], up["admin"]
    dashboard = up["dashboard"] or {"url": f"{base_url}/dashboard/", "email": None, "password": None}
    sections: Sequence[Sequence[tuple[str, str | None]]] = (
        (
            ("Landing page", pages["landing"]),
            ("Dashboard", dashboard["url"]),
            *sign_in_rows("email", dashboard["email"], dashboard["password"]),
            ("Order board", pages["order_board"]),
            ("Reservations", pages["reservations"]),
            ("Booking page", pages["booking_page"]),
            ("Ordering page", pages["ordering_page"]),
            ("Admin", admin["url"]),
            *sign_in_rows("user", admin["username"], admin["password"]),
            ("API docs", pages["docs"]),
            ("Mailbox", pages["mailbox"]),
        ),
        (
            ("Data API", f"{base_url}/v1"),
            ("  for agents", f"{up['mcp_url']} (MCP)"),
            ("Management API", management["base_url"]),
            ("  key", management["api_key"] or "none: run without --no-seed"),
            ("  with a menu", management["menu_api_key"]),
            ("Payments on", f"{up['chain']['network']}{', the development chain' if up['wallets'] else ''}"),
            *((f"OpenAPI, {name}", url) for name, url in up["docs"].items()),
            ("All of this", str(up_record_path(state_dir))),
            ("Logs", str(logs)),
        ),
    )
    console = Console(highlight=False)
    console.print("[bold]Tablewire is up.[/bold] Ctrl-C stops it.", soft_wrap=True)
    for section in sections:
        console.print()
        for name, value in section:
            if value:
                console.print(f"{name:<{NAME_WIDTH}}", Text(value, as_link(value)), sep="", soft_wrap=True)
    console.print()
    for line in build_commands(up, state_dir=state_dir, is_default_dir=is_default_dir, reviewed=reviewed):
        console.print(line, markup=False, soft_wrap=True)


def sign_in_rows(label: str, name: str | None, password: str | None) -> Sequence[tuple[str, str]]:
    """The rows of a sign-in. The password is None if its user has changed it."""
    if not name:
        return ((f"  {label}", "none: run without --no-seed"),)
    changed = f"changed by you (`manage.py changepassword {name}` sets another)"
    return ((f"  {label}", name), ("  password", password or changed))


def as_link(value: str) -> Style:
    """A link in terminals that have them, if the value begins with an address."""
    address = value.partition(" ")[0]
    return Style(link=address) if address.startswith("http") else Style()


def build_commands(
    up: Mapping[str, Any], *, state_dir: Path, is_default_dir: bool, reviewed: str | None
) -> Sequence[str]:
    """The requests to paste. The order is one of the demo venue, and so appears on its order board."""
    base_url, key = up["base_url"], up["management"]["menu_api_key"]
    lines = [f"curl '{base_url}/v1/restaurants?near=tivoli&open=now&limit=3'"]
    if key:
        headers = f"-H 'Authorization: Bearer {key}' -H 'Content-Type: application/json'"
        lines.append(f"curl -X POST {base_url}/api/v1/orders {headers} -d '{json.dumps(ORDER)}'")
    if reviewed and up["wallets"]:
        directory = "" if is_default_dir else f" --state-dir {shlex.quote(str(state_dir))}"
        lines.append(f"uv run manage.py pay '/v1/restaurants/{reviewed}?fields=core,reviews'{directory}")
    return lines


def open_browser(url: str) -> bool:
    """Open the address in the user's browser; return False where there is none.

    Without a display Python would start a browser for terminals, which would take over this one.
    """
    displays = ("BROWSER", "DISPLAY", "WAYLAND_DISPLAY")
    if sys.platform == "linux" and not any(os.environ.get(name) for name in displays):
        return False
    try:
        return webbrowser.open(url)
    except (webbrowser.Error, OSError):
        return False
