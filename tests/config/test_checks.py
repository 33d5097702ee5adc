"""System checks of a public installation: each bad setting is found, and good settings pass."""

import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from django.conf import LazySettings
from django.conf import settings as configuration
from django.core import checks as django_checks

from config import checks
from payments.devchain.addresses import PRICE_FEED

GOOD: dict[str, Any] = {
    "PUBLIC_BASE_URL": "https://api.example.com",
    "ALLOWED_HOSTS": ["api.example.com"],
    "SECRET_KEY_FALLBACKS": [],
    "SECRET_KEY": "b9Zt3-kWq8LmXv2Rr7YcPp5NsJd4Hf6GaQe1Tu0o",
    "DEBUG": False,
    "SESSION_COOKIE_SECURE": True,
    "CSRF_COOKIE_SECURE": True,
    "METRICS_TOKEN": "",
    "WEBHOOKS_TO_LOOPBACK": False,
    "PAYMENT_NETWORK": "eip155:8453",
    "TOKEN_PRICE_FEED": "",
    "TRUSTED_PROXIES": 1,
    "SECURE_PROXY_SSL_HEADER": ("HTTP_X_FORWARDED_PROTO", "https"),
    "EMAIL_BACKEND": "django.core.mail.backends.smtp.EmailBackend",
    "MAILBOX_DIR": "",
    "TIER_CACHE_S": 600,
    "TIER_UPGRADE_AGE_S": 600,
}


@pytest.fixture(autouse=True)
def _good(settings: LazySettings, monkeypatch: pytest.MonkeyPatch) -> None:
    for name, value in GOOD.items():
        setattr(settings, name, value)
    set_database_host(monkeypatch, "db.example.com", "verify-full")


def set_database_host(monkeypatch: pytest.MonkeyPatch, host: str, mode: str | None = None) -> None:
    """Set the host and the sslmode of the database."""
    database = configuration.DATABASES["default"]
    monkeypatch.setitem(database, "HOST", host)
    monkeypatch.setitem(database, "OPTIONS", {"sslmode": mode} if mode else {})


def check_ids() -> list[str]:
    """The ids of what our checks find."""
    messages = [*checks.refuse_unsafe_starts(app_configs=None), *checks.warn_of_weak_settings(app_configs=None)]
    return [str(message.id) for message in messages]


def test_good_settings_pass() -> None:
    assert check_ids() == []


@pytest.mark.parametrize(
    ("id", "changes"),
    [
        ("tablewire.E001", {"TOKEN_PRICE_FEED": PRICE_FEED}),
        ("tablewire.E002", {"DEBUG": True}),
        ("tablewire.E003", {"SECRET_KEY": "changeme"}),
        ("tablewire.E003", {"SECRET_KEY": "correct horse battery"}),
        ("tablewire.E003", {"SECRET_KEY": "a" * 50}),
        ("tablewire.E003", {"SECRET_KEY_FALLBACKS": ["changeme"]}),
        ("tablewire.E004", {"PUBLIC_BASE_URL": "http://api.example.com"}),
        ("tablewire.E005", {"ALLOWED_HOSTS": ["*"]}),
        ("tablewire.E006", {"ALLOWED_HOSTS": ["www.example.com", ".example.org"]}),
        ("tablewire.E007", {"SESSION_COOKIE_SECURE": False}),
        ("tablewire.E007", {"CSRF_COOKIE_SECURE": False}),
        ("tablewire.E008", {"METRICS_TOKEN": "prometheus"}),
        ("tablewire.E009", {"WEBHOOKS_TO_LOOPBACK": True}),
        ("tablewire.E011", {"TIER_CACHE_S": 601}),
        ("tablewire.E011", {"TIER_UPGRADE_AGE_S": 1}),
        ("tablewire.W001", {"TRUSTED_PROXIES": 0}),
        ("tablewire.W002", {"SECURE_PROXY_SSL_HEADER": None}),
        ("tablewire.W003", {"TOKEN_PRICE_FEED": PRICE_FEED, "PAYMENT_NETWORK": "eip155:84532"}),
        ("tablewire.E010", {"MAILBOX_DIR": "/mail"}),
        ("tablewire.W004", {"EMAIL_BACKEND": checks.CONSOLE_EMAIL}),
    ],
)
def test_bad_setting_is_found(settings: LazySettings, id: str, changes: dict[str, Any]) -> None:  # noqa: A002
    for name, value in changes.items():
        setattr(settings, name, value)
    # The development chain is also a warning of its own.
    assert [found for found in check_ids() if (id, found) != ("tablewire.E001", "tablewire.W003")] == [id]


@pytest.mark.parametrize(("cache_s", "age_s"), [(0, 600), (600, 600), (600, 0), (0, 0)])
def test_a_holding_must_last_as_long_as_a_tier_is_cached_or_counts_at_once(
    settings: LazySettings, cache_s: int, age_s: int
) -> None:
    settings.TIER_CACHE_S, settings.TIER_UPGRADE_AGE_S = cache_s, age_s
    assert check_ids() == []


@pytest.mark.parametrize("address", ["http://127.0.0.1:8000", "https://api.example.com"])
def test_a_tier_that_is_cached_for_longer_than_a_holding_must_last_stops_every_installation(
    settings: LazySettings, address: str
) -> None:
    settings.PUBLIC_BASE_URL, settings.TIER_CACHE_S, settings.TIER_UPGRADE_AGE_S = address, 900, 600
    (error,) = checks.refuse_unsafe_starts(app_configs=None)
    assert (error.id, error.msg) == (
        "tablewire.E011",
        "TIER_CACHE_S is 900 and TIER_UPGRADE_AGE_S 600:"
        " tokens that are handed on give several wallets a tier at once.",
    )


@pytest.mark.parametrize(
    "address",
    [
        *("http://127.0.0.1:8000", "http://localhost:8000", "http://[::1]:8000", "http://192.168.1.7:8000"),
        *("http://web:8000", "http://tables.local", "http://tables.svc.cluster.internal"),
    ],
)
def test_private_installation_may_have_any_settings(settings: LazySettings, address: str) -> None:
    settings.PUBLIC_BASE_URL, settings.DEBUG, settings.SECRET_KEY, settings.ALLOWED_HOSTS = address, True, "x", ["*"]
    settings.WEBHOOKS_TO_LOOPBACK, settings.TRUSTED_PROXIES = True, 0
    assert check_ids() == []


@pytest.mark.parametrize(
    "address", ["http://93.184.216.34", "http://[2606:4700::1111]", "https://127.0.0.1", "http://api.example.com"]
)
def test_public_installation_is_checked(settings: LazySettings, address: str) -> None:
    settings.PUBLIC_BASE_URL, settings.DEBUG = address, True
    assert "tablewire.E002" in check_ids()


@pytest.mark.parametrize("host", ["", "/run/postgresql", "localhost", "127.0.0.1", "::1"])
def test_local_database_needs_no_tls(monkeypatch: pytest.MonkeyPatch, host: str) -> None:
    set_database_host(monkeypatch, host)
    assert check_ids() == []


@pytest.mark.parametrize(("host", "mode"), [("127.0.0.1,db.example.com", None), ("10.0.0.5", "prefer")])
def test_remote_database_needs_tls(monkeypatch: pytest.MonkeyPatch, host: str, mode: str | None) -> None:
    set_database_host(monkeypatch, host, mode)
    assert check_ids() == ["tablewire.W005"]


def test_errors_are_checked_by_every_command_and_warnings_by_check_deploy() -> None:
    registered = django_checks.registry.registry
    assert checks.refuse_unsafe_starts in registered.registered_checks
    assert checks.warn_of_weak_settings in registered.deployment_checks


PRODUCTION = {
    "PUBLIC_BASE_URL": "https://api.example.com",
    "ALLOWED_HOSTS": "api.example.com",
    "SECRET_KEY": GOOD["SECRET_KEY"] + "-and-twenty-more-of-them",
    "DATABASE_URL": "postgresql://tablewire:secret@127.0.0.1:1/tablewire",
    "TRUSTED_PROXIES": "1",
    "TRUST_FORWARDED_PROTO": "true",
    "EMAIL_URL": "smtp+tls://me:secret@mail.example.com:587",
    "RPC_URL": "https://rpc.example.com",
    "FACILITATOR_URL": "https://facilitator.example.com",
    "PAY_TO": "0x" + "11" * 20,
    "RECEIPT_KEYS": "22" * 32,
    "METRICS_TOKEN": "c7Qk2mZr9vXw4TbN",
}


def manage(tmp_path: Path, *arguments: str, **changes: str) -> subprocess.CompletedProcess[str]:
    """Run a command with production settings and these changes."""
    unset = dict.fromkeys(("REDIS_URL", "BROKER_URL", "PAYMENT_NETWORK", "TOKEN_ADDRESS", "TOKEN_PRICE_FEED"), "")
    env = {**os.environ, **unset, **PRODUCTION, "TABLEWIRE_STATE_DIR": str(tmp_path), **changes}
    command = [sys.executable, "manage.py", *arguments]
    return subprocess.run(command, cwd=configuration.BASE_DIR, env=env, capture_output=True, text=True, check=False)


@pytest.mark.stack
def test_production_settings_pass_djangos_deployment_checks(tmp_path: Path) -> None:
    done = manage(tmp_path, "check", "--deploy", "--fail-level", "WARNING")
    assert (done.returncode, done.stdout) == (0, "System check identified no issues (3 silenced).\n"), done.stderr


@pytest.mark.stack
def test_migrate_is_refused_with_bad_settings(tmp_path: Path) -> None:
    done = manage(tmp_path, "migrate", ALLOWED_HOSTS="*", DATABASE_URL=os.environ["DATABASE_URL"])
    assert done.returncode == 1
    assert "(tablewire.E005) ALLOWED_HOSTS accepts any name" in done.stderr


WEB = ("granian", "config.wsgi:application", "--interface", "wsgi", "--port", "0")
WORKER = ("celery", "-A", "config", "worker", "--concurrency", "1")
BEAT = ("celery", "-A", "config", "beat")


@pytest.mark.stack
@pytest.mark.parametrize("program", [WEB, WORKER, BEAT], ids=["web", "worker", "beat"])
def test_a_process_that_serves_does_not_start_with_unsafe_settings(tmp_path: Path, program: tuple[str, ...]) -> None:
    unsafe = {
        "DEBUG": "true",
        "ALLOWED_HOSTS": "*",
        "SECRET_KEY": "changeme",
        "SECURE_COOKIES": "false",
        "BROKER_URL": os.environ["BROKER_URL"],
    }
    env = {**os.environ, **PRODUCTION, "TABLEWIRE_STATE_DIR": str(tmp_path), **unsafe}
    command = [sys.executable, "-m", *program]
    if "beat" in program:
        command += ["--schedule", str(tmp_path / "schedule")]
    done = subprocess.run(
        command, cwd=configuration.BASE_DIR, env=env, capture_output=True, text=True, timeout=60, check=False
    )
    output = done.stdout + done.stderr
    assert done.returncode != 0
    assert "The settings are unsafe. Nothing was started." in output
    assert [f"tablewire.E00{number}" in output for number in (2, 3, 5, 7)] == [True] * 4
    assert "Traceback" not in output


@pytest.mark.stack
def test_wsgi_application_is_not_loaded_with_an_unsafe_setting(tmp_path: Path) -> None:
    env = {**os.environ, **PRODUCTION, "TABLEWIRE_STATE_DIR": str(tmp_path), "ALLOWED_HOSTS": "*"}
    command = [sys.executable, "-c", "import config.wsgi"]
    done = subprocess.run(
        command, cwd=configuration.BASE_DIR, env=env, capture_output=True, text=True, timeout=60, check=False
    )
    assert (done.returncode, "(tablewire.E005)" in done.stderr) == (1, True), done.stderr


@pytest.mark.stack
def test_wsgi_application_is_loaded_with_good_settings(tmp_path: Path) -> None:
    env = {**os.environ, **PRODUCTION, "TABLEWIRE_STATE_DIR": str(tmp_path)}
    command = [sys.executable, "-c", "import config.wsgi"]
    subprocess.run(command, cwd=configuration.BASE_DIR, env=env, timeout=60, check=True)
