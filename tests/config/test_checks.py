"""What a public installation must not start with: each refused by name, and a good one by nothing."""

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
from config.dev_stack import PRICE_FEED

GOOD: dict[str, Any] = {
    "PUBLIC_BASE_URL": "https://api.example.com",
    "ALLOWED_HOSTS": ["api.example.com"],
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
}


@pytest.fixture(autouse=True)
def _good(settings: LazySettings, monkeypatch: pytest.MonkeyPatch) -> None:
    for name, value in GOOD.items():
        setattr(settings, name, value)
    on(monkeypatch, "db.example.com", "verify-full")


def on(monkeypatch: pytest.MonkeyPatch, host: str, mode: str | None = None) -> None:
    """Have the database be there."""
    database = configuration.DATABASES["default"]
    monkeypatch.setitem(database, "HOST", host)
    monkeypatch.setitem(database, "OPTIONS", {"sslmode": mode} if mode else {})


def found() -> list[str]:
    """What our checks find, by their ids."""
    ours = [*checks.refuse_unsafe_starts(app_configs=None), *checks.warn_of_what_is_left(app_configs=None)]
    return [str(one.id) for one in ours]


def test_a_good_installation_is_told_nothing() -> None:
    assert found() == []


@pytest.mark.parametrize(
    ("id", "changes"),
    [
        ("tablewire.E001", {"TOKEN_PRICE_FEED": PRICE_FEED}),
        ("tablewire.E002", {"DEBUG": True}),
        ("tablewire.E003", {"SECRET_KEY": "changeme"}),
        ("tablewire.E003", {"SECRET_KEY": "correct horse battery"}),
        ("tablewire.E003", {"SECRET_KEY": "a" * 50}),
        ("tablewire.E004", {"PUBLIC_BASE_URL": "http://api.example.com"}),
        ("tablewire.E005", {"ALLOWED_HOSTS": ["*"]}),
        ("tablewire.E006", {"ALLOWED_HOSTS": ["www.example.com", ".example.org"]}),
        ("tablewire.E007", {"SESSION_COOKIE_SECURE": False}),
        ("tablewire.E007", {"CSRF_COOKIE_SECURE": False}),
        ("tablewire.E008", {"METRICS_TOKEN": "prometheus"}),
        ("tablewire.E009", {"WEBHOOKS_TO_LOOPBACK": True}),
        ("tablewire.W001", {"TRUSTED_PROXIES": 0}),
        ("tablewire.W002", {"SECURE_PROXY_SSL_HEADER": None}),
        ("tablewire.W003", {"TOKEN_PRICE_FEED": PRICE_FEED, "PAYMENT_NETWORK": "eip155:84532"}),
        ("tablewire.W004", {"EMAIL_BACKEND": checks.CONSOLE}),
    ],
)
def test_what_is_unsafe_is_named(settings: LazySettings, id: str, changes: dict[str, Any]) -> None:  # noqa: A002
    for name, value in changes.items():
        setattr(settings, name, value)
    # Paying on a chain whose money is none is told twice, as what it is, and as what it pretends to be.
    assert [one for one in found() if (id, one) != ("tablewire.E001", "tablewire.W003")] == [id]


@pytest.mark.parametrize(
    "address",
    [
        *("http://127.0.0.1:8000", "http://localhost:8000", "http://[::1]:8000", "http://192.168.1.7:8000"),
        *("http://web:8000", "http://tables.local", "http://tables.svc.cluster.internal"),
    ],
)
def test_an_installation_of_this_house_may_be_as_it_likes(settings: LazySettings, address: str) -> None:
    settings.PUBLIC_BASE_URL, settings.DEBUG, settings.SECRET_KEY, settings.ALLOWED_HOSTS = address, True, "x", ["*"]
    settings.WEBHOOKS_TO_LOOPBACK, settings.TRUSTED_PROXIES = True, 0
    assert found() == []


@pytest.mark.parametrize("address", ["http://93.184.216.34", "https://127.0.0.1", "http://api.example.com"])
def test_an_installation_that_others_reach_may_not(settings: LazySettings, address: str) -> None:
    settings.PUBLIC_BASE_URL, settings.DEBUG = address, True
    assert "tablewire.E002" in found()


@pytest.mark.parametrize("host", ["", "/run/postgresql", "localhost", "127.0.0.1", "::1"])
def test_a_database_on_this_machine_needs_no_tls(monkeypatch: pytest.MonkeyPatch, host: str) -> None:
    on(monkeypatch, host)
    assert found() == []


@pytest.mark.parametrize(("host", "mode"), [("127.0.0.1,db.example.com", None), ("10.0.0.5", "prefer")])
def test_a_database_on_another_machine_does(monkeypatch: pytest.MonkeyPatch, host: str, mode: str | None) -> None:
    on(monkeypatch, host, mode)
    assert found() == ["tablewire.W005"]


def test_the_errors_stop_every_command_and_the_warnings_only_a_deployment() -> None:
    registered = django_checks.registry.registry
    assert checks.refuse_unsafe_starts in registered.registered_checks
    assert checks.warn_of_what_is_left in registered.deployment_checks


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
    "METRICS_TOKEN": "c7Qk2mZr9vXw4TbN",
}


def manage(tmp_path: Path, *words: str, **changes: str) -> subprocess.CompletedProcess[str]:
    """What a command says under production settings that differ by this."""
    nothing = dict.fromkeys(("REDIS_URL", "BROKER_URL", "PAYMENT_NETWORK", "TOKEN_ADDRESS", "TOKEN_PRICE_FEED"), "")
    env = {**os.environ, **nothing, **PRODUCTION, "TABLEWIRE_STATE_DIR": str(tmp_path), **changes}
    command = [sys.executable, "manage.py", *words]
    return subprocess.run(command, cwd=configuration.BASE_DIR, env=env, capture_output=True, text=True, check=False)


def test_production_settings_pass_djangos_own_deployment_checks_too(tmp_path: Path) -> None:
    done = manage(tmp_path, "check", "--deploy", "--fail-level", "WARNING")
    assert (done.returncode, done.stdout) == (0, "System check identified no issues (3 silenced).\n"), done.stderr


def test_no_schema_is_made_for_an_unsafe_start(tmp_path: Path) -> None:
    done = manage(tmp_path, "migrate", ALLOWED_HOSTS="*", DATABASE_URL=os.environ["DATABASE_URL"])
    assert done.returncode == 1
    assert "(tablewire.E005) ALLOWED_HOSTS takes any name" in done.stderr
