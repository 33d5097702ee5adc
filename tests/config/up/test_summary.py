"""up.json and the panel, from known values."""

import io
from pathlib import Path
from typing import Any

import pytest
from rich.console import Console

from config.up import summary
from orders.demo import menu

BASE = "http://127.0.0.1:8000"
ENV = {
    "RPC_URL": "http://127.0.0.1:1",
    "FACILITATOR_URL": "http://127.0.0.1:2",
    "PAY_TO": "0x" + "ab" * 20,
    "DATABASE_URL": "postgresql://x",
    "REDIS_URL": "redis://x",
    "MAILBOX_DIR": "/mail",
}
SEEDED = {
    "management": {"api_key": "rk_test_a", "menu_api_key": "rk_test_m"},
    "admin": {"username": "admin@example.com", "password": "secret"},
    "dashboard": {"email": "demo@example.com", "password": "demo secret", "venue": "ven_1"},
}


def record(known: dict[str, Any], **env: str) -> dict[str, Any]:
    return summary.build_record(base_url=BASE, env=ENV | env, wallets=None, known=known, pids={})


def panel(up: dict[str, Any], capsys: pytest.CaptureFixture[str]) -> list[str]:
    """The lines of the panel."""
    summary.print_panel(up, state_dir=Path("/s"), is_default_dir=True, logs=Path("/s/logs"), reviewed=None)
    return capsys.readouterr().out.splitlines()


def test_record_has_the_sign_in_of_the_dashboard_and_its_pages() -> None:
    up = record(SEEDED)
    assert up["dashboard"] == {
        "url": f"{BASE}/dashboard/",
        "email": "demo@example.com",
        "password": "demo secret",
        "venue": "ven_1",
    }
    assert up["pages"] == {
        "landing": f"{BASE}/",
        "order_board": f"{BASE}/dashboard/ven_1/board",
        "reservations": f"{BASE}/dashboard/ven_1/reservations",
        "booking_page": f"{BASE}/book/ven_1",
        "ordering_page": f"{BASE}/order/ven_1",
        "docs": f"{BASE}/docs",
        "mailbox": f"{BASE}/mailbox",
    }


def test_record_of_a_run_without_demo_data_has_no_demo_pages() -> None:
    up = record({}, EMAIL_URL="smtp://mail.example.com")
    assert up["dashboard"] is None
    assert [name for name, url in up["pages"].items() if url is None] == [
        *("order_board", "reservations", "booking_page", "ordering_page", "mailbox")
    ]


def test_panel_begins_with_what_a_person_opens(capsys: pytest.CaptureFixture[str]) -> None:
    lines = panel(record(SEEDED), capsys)
    assert lines[:15] == [
        "Tablewire is up. Ctrl-C stops it.",
        "",
        "Landing page         http://127.0.0.1:8000/",
        "Dashboard            http://127.0.0.1:8000/dashboard/",
        "  email              demo@example.com",
        "  password           demo secret",
        "Order board          http://127.0.0.1:8000/dashboard/ven_1/board",
        "Reservations         http://127.0.0.1:8000/dashboard/ven_1/reservations",
        "Booking page         http://127.0.0.1:8000/book/ven_1",
        "Ordering page        http://127.0.0.1:8000/order/ven_1",
        "Admin                http://127.0.0.1:8000/admin/",
        "  user               admin@example.com",
        "  password           secret",
        "API docs             http://127.0.0.1:8000/docs",
        "Mailbox              http://127.0.0.1:8000/mailbox",
    ]


def test_panel_of_a_run_without_demo_data_says_how_to_get_them(capsys: pytest.CaptureFixture[str]) -> None:
    lines = panel(record({}), capsys)
    assert lines[2:9] == [
        "Landing page         http://127.0.0.1:8000/",
        "Dashboard            http://127.0.0.1:8000/dashboard/",
        "  email              none: run without --no-seed",
        "Admin                http://127.0.0.1:8000/admin/",
        "  user               none: run without --no-seed",
        "API docs             http://127.0.0.1:8000/docs",
        "Mailbox              http://127.0.0.1:8000/mailbox",
    ]
    assert not any("curl -X POST" in line for line in lines)


def test_narrow_terminal_breaks_no_address(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    wide = panel(record(SEEDED), capsys)
    monkeypatch.setenv("COLUMNS", "20")
    assert panel(record(SEEDED), capsys) == wide


def test_order_to_paste_has_the_key_and_a_dish_of_the_demo_venue(capsys: pytest.CaptureFixture[str]) -> None:
    (line,) = [line for line in panel(record(SEEDED), capsys) if line.startswith("curl -X POST")]
    assert line.startswith(f"curl -X POST {BASE}/api/v1/orders -H 'Authorization: Bearer rk_test_m'")
    (item,) = summary.ORDER["items"]
    assert item["menu_item_id"] in {ref for dishes in menu.CARD.values() for ref in dishes}


def test_addresses_are_links_in_terminals_that_have_them() -> None:
    assert summary.as_link(f"{BASE}/mcp (MCP)").link == f"{BASE}/mcp"
    assert summary.as_link("rk_test_a").link is None
    out = io.StringIO()
    Console(file=out, force_terminal=True).print("x", style=summary.as_link(BASE))
    assert f";{BASE}\x1b\\x" in out.getvalue()


def test_browser_opens_the_address(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    opened = tmp_path / "opened"
    browser = tmp_path / "browser"
    browser.write_text(f'#!/bin/sh\necho "$1" > {opened}\n')
    browser.chmod(0o700)
    monkeypatch.setenv("BROWSER", str(browser))
    monkeypatch.setattr("webbrowser._tryorder", None)
    assert summary.open_browser(f"{BASE}/")
    assert opened.read_text() == f"{BASE}/\n"


def test_no_browser_is_no_error(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("BROWSER", "DISPLAY", "WAYLAND_DISPLAY"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setattr("sys.platform", "linux")
    assert summary.open_browser(f"{BASE}/") is False
