"""The settings: the values of each variable, the errors of wrong values, and the settings derived from them."""

import importlib
import logging
import os
import re
import subprocess
import sys
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
from django.conf import settings
from django.core.exceptions import ImproperlyConfigured
from django.test import Client
from django.utils import formats

from config.celery import app

DATABASE = "postgresql://me:secret@db.example.com/tables"


@pytest.fixture(autouse=True)
def _bare(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """An environment with only an empty state directory."""
    documented = (settings.BASE_DIR / "docs" / "settings.md").read_text()
    for name in re.findall(r"^\| `([A-Z_]+)`", documented, re.MULTILINE):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("TABLEWIRE_STATE_DIR", str(tmp_path))


def load_settings() -> dict[str, Any]:
    """Load the settings module in this environment."""
    loaded = {name: sys.modules.pop(name) for name in list(sys.modules) if name.startswith("config.settings")}
    try:
        return dict(vars(importlib.import_module("config.settings")))
    finally:
        sys.modules.update(loaded)


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("DEBUG", "maybe"),
        ("SECURE_COOKIES", "ture"),
        ("PUBLIC_BASE_URL", "xyz"),
        ("PUBLIC_BASE_URL", "https://"),
        ("DATABASE_URL", "foo"),
        ("DATABASE_URL", "mysql://me@db/tables"),
        ("DATABASE_URL", "postgresql://me@db"),
        ("DATABASE_URL", "postgresql://me@db:port/tables"),
        ("REPLICA_URL", "foo"),
        ("REPLICA_URL", "postgresql://me@one,two/tables"),
        ("REPLICA_MAX_LAG_S", "0"),
        ("REPLICA_MAX_LAG_S", "61"),
        ("REDIS_URL", "foo"),
        ("REDIS_URL", "redis://cache:99999"),
        ("BROKER_URL", "foo"),
        ("BROKER_URL", "amqp://one;two"),
        ("STATEMENT_TIMEOUT_MS", "-5"),
        ("STATEMENT_TIMEOUT_MS", "2147483648"),
        ("LOCK_TIMEOUT_MS", "3s"),
        ("TRUSTED_PROXIES", "abc"),
        ("VAPID_PRIVATE_KEY", "not base64url"),
        ("VAPID_PRIVATE_KEY", "AAAA"),
        ("TRUSTED_PROXIES", "-1"),
        ("CONN_MAX_AGE", "abc"),
        ("LOG_LEVEL", "FOO"),
        ("ALLOWED_HOSTS", "https://example.com"),
        ("ALLOWED_HOSTS", "::1"),
        ("PRINTER_NETWORKS", "192.168.1.9/24"),
        ("PRINTER_NETWORKS", "10.0.0.0/8, printers"),
        ("CSRF_TRUSTED_ORIGINS", "example.com"),
        ("CSRF_TRUSTED_ORIGINS", "https://example.com/"),
    ],
)
def test_error_of_a_wrong_value_names_the_variable(monkeypatch: pytest.MonkeyPatch, name: str, value: str) -> None:
    monkeypatch.setenv("SECRET_KEY", "k")
    monkeypatch.setenv(name, value)
    with pytest.raises(ImproperlyConfigured, match=f"^The environment variable {name} must be "):
        load_settings()


@pytest.mark.parametrize("name", ["DATABASE_URL", "REDIS_URL", "BROKER_URL"])
def test_error_of_a_wrong_url_does_not_show_its_password(monkeypatch: pytest.MonkeyPatch, name: str) -> None:
    monkeypatch.setenv(name, "gopher://me:secret@example.com/tables")
    with pytest.raises(ImproperlyConfigured) as refusal:
        load_settings()
    assert "secret" not in str(refusal.value)


@pytest.mark.exhaustive
def test_command_with_a_wrong_value_exits_with_a_message() -> None:
    command = [sys.executable, "manage.py", "check"]
    env = {**os.environ, "DEBUG": "maybe"}
    done = subprocess.run(command, cwd=settings.BASE_DIR, env=env, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (
        1,
        "The environment variable DEBUG must be true or false, not 'maybe'.\n",
    )


def test_empty_variable_counts_as_unset(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("TABLEWIRE_STATE_DIR")
    random = ("SECRET_KEY",)
    unset = {name: value for name, value in load_settings().items() if name.isupper() and name not in random}
    documented = (settings.BASE_DIR / "docs" / "settings.md").read_text()
    for name in re.findall(r"^\| `([A-Z_]+)`", documented, re.MULTILINE):
        monkeypatch.setenv(name, "")
    empty = {name: value for name, value in load_settings().items() if name.isupper() and name not in random}
    # LOGGING has a function, which is another one each time.
    assert {**empty, "LOGGING": None} == {**unset, "LOGGING": None}
    assert empty["STATE_DIR"] == settings.BASE_DIR / ".state"


def test_values_are_parsed(monkeypatch: pytest.MonkeyPatch) -> None:
    given = {
        "DEBUG": "Yes",
        "SECURE_COOKIES": "off",
        "PUBLIC_BASE_URL": "https://api.example.com",
        "BROKER_URL": "amqp://one:5672//;amqp://two:5672//",
        "TRUSTED_PROXIES": "2",
        "LOG_LEVEL": "warning",
        "ALLOWED_HOSTS": "api.example.com, .example.org,[::1]",
        "CSRF_TRUSTED_ORIGINS": "https://*.example.com,http://localhost:8000",
        "SECRET_KEY": "$ecret",
    }
    for name, value in given.items():
        monkeypatch.setenv(name, value)
    loaded = load_settings()
    assert loaded["DEBUG"] is True
    assert loaded["SESSION_COOKIE_SECURE"] is False
    assert loaded["CELERY_BROKER_URL"] == "amqp://one:5672//;amqp://two:5672//"
    assert loaded["TRUSTED_PROXIES"] == 2
    assert loaded["LOGGING"]["root"]["level"] == "WARNING"
    assert loaded["ALLOWED_HOSTS"] == ["api.example.com", ".example.org", "[::1]"]
    assert loaded["CSRF_TRUSTED_ORIGINS"] == ["https://*.example.com", "http://localhost:8000"]
    assert loaded["SECRET_KEY"] == "$ecret"


# The key
def test_external_database_needs_a_secret_key(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("DATABASE_URL", DATABASE)
    with pytest.raises(ImproperlyConfigured, match=r"^The environment variable SECRET_KEY must be set"):
        load_settings()
    (tmp_path / "secret_key").write_text("stored")
    assert load_settings()["SECRET_KEY"] == "stored"
    monkeypatch.setenv("SECRET_KEY", "given")
    assert load_settings()["SECRET_KEY"] == "given"


def test_up_generates_a_secret_key_also_for_an_external_database(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("DATABASE_URL", DATABASE)
    monkeypatch.setattr("sys.argv", ["manage.py", "up", "--port", "0"])
    assert len(load_settings()["SECRET_KEY"]) >= 50


def test_settings_load_without_any_variable() -> None:
    assert len(load_settings()["SECRET_KEY"]) >= 50


# The database
def test_options_of_the_database_url_win(monkeypatch: pytest.MonkeyPatch) -> None:
    query = "sslmode=verify-full&sslrootcert=/etc/ca.pem&connect_timeout=7&options=-c%20search_path%3Dtables"
    monkeypatch.setenv("SECRET_KEY", "given")
    monkeypatch.setenv("DATABASE_URL", f"{DATABASE}?{query}")
    database = load_settings()["DATABASES"]["default"]
    options = database["OPTIONS"]
    assert (database["HOST"], database["NAME"], database["CONN_MAX_AGE"]) == ("db.example.com", "tables", 600)
    assert (options["sslmode"], options["sslrootcert"], options["connect_timeout"]) == (
        *("verify-full", "/etc/ca.pem"),
        7,
    )
    assert (options["target_session_attrs"], options["application_name"]) == ("read-write", "tablewire")
    assert options["options"].startswith("-c statement_timeout=5000 ")
    assert options["options"].endswith(" -c search_path=tables")


def test_database_url_may_have_several_hosts(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SECRET_KEY", "given")
    monkeypatch.setenv("DATABASE_URL", "postgresql://me:secret@one:5432,two:5433/tables")
    database = load_settings()["DATABASES"]["default"]
    assert (database["HOST"], database["PORT"]) == ("one,two", "5432,5433")


# Celery and the log
def test_queues_are_consumed_by_priority() -> None:
    with app.connection_for_write() as connection, connection.channel() as channel:
        queues = [app.amqp.queues[name].bind(channel) for name in settings.TASK_QUEUES]
        for queue in reversed(queues):
            queue.declare()
            queue.purge()
            for number in range(2):
                app.amqp.Producer(channel).publish(number, routing_key=queue.routing_key, exchange=queue.exchange)
        received: list[str] = []

        def receive(body: object, message: Any) -> None:
            received.append(message.delivery_info["routing_key"])
            message.ack()

        with app.amqp.TaskConsumer(channel, queues=queues, callbacks=[receive], accept=["json"]):
            while len(received) < 2 * len(settings.TASK_QUEUES):
                connection.drain_events(timeout=5)
    assert received == [name for name in settings.TASK_QUEUES for _ in range(2)]


def test_request_for_an_unknown_host_logs_one_line(caplog: pytest.LogCaptureFixture) -> None:
    with caplog.at_level(logging.WARNING):
        response = Client(headers={"host": "evil.example"}).get("/admin/login/")
    assert response.status_code == 400
    entries = [entry for entry in caplog.records if entry.name == "django.security.DisallowedHost"]
    assert [entry.exc_info for entry in entries] == [None]
    assert "Traceback" not in caplog.text


def test_dates_and_times_are_unambiguous() -> None:
    moment = datetime(2026, 12, 3, 19, 30, tzinfo=UTC)
    shown = [formats.localize(value) for value in (moment, moment.date(), moment.time())]
    assert shown == ["2026-12-03 19:30 UTC", "2026-12-03", "19:30"]


def test_mail_is_stored_in_the_mailbox_only_without_a_mail_server(monkeypatch: pytest.MonkeyPatch) -> None:
    names = ("MAILBOX_DIR", "EMAIL_BACKEND", "SANDBOX_EMAIL_BACKEND")
    console, stored = "django.core.mail.backends.console.EmailBackend", "framework.mailbox.EmailBackend"

    def values() -> tuple[str, ...]:
        loaded = load_settings()
        return tuple(loaded[name] for name in names)

    assert values() == ("", console, console)
    monkeypatch.setenv("MAILBOX_DIR", "/mail")
    assert values() == ("/mail", stored, stored)
    monkeypatch.setenv("EMAIL_URL", "smtp://mail.example.com")
    assert values() == ("", "django.core.mail.backends.smtp.EmailBackend", console)
