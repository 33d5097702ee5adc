"""The files of deploy/: what they name is there, and what they set is known to those who read it."""

import configparser
import re
import subprocess
from pathlib import Path
from typing import Any

import pytest
import yaml
from django.conf import settings
from django.db import connection

DEPLOY = Path(settings.BASE_DIR) / "deploy"
SETTINGS = (Path(settings.BASE_DIR) / "docs" / "settings.md").read_text()
# Read by granian and Celery themselves.
NOT_OURS = {"REMAP_SIGTERM", "GRANIAN_BLOCKING_THREADS"}
OF_OURS = ("web1", "web2", "pay1", "worker-urgent", "worker", "beat", "migrate")


@pytest.fixture(scope="module")
def compose() -> dict[str, Any]:
    """deploy/compose.yaml."""
    found: dict[str, Any] = yaml.safe_load((DEPLOY / "compose.yaml").read_text())
    return found


def asked_for(text: str) -> set[str]:
    """The variables that compose puts in."""
    return set(re.findall(r"\$\{([A-Z0-9_]+)", text))


def test_our_services_are_given_variables_that_the_settings_know(compose: dict[str, Any]) -> None:
    documented = set(re.findall(r"^\| `([A-Z0-9_]+)`", SETTINGS, re.MULTILINE))
    given = {name for service in OF_OURS for name in compose["services"][service]["environment"]}
    assert given - NOT_OURS - documented == set()
    assert {"DATABASE_URL", "REPLICA_URL", "BROKER_URL", "EXPORTS_S3_BUCKET"} <= given


def test_what_compose_asks_for_stands_in_the_example_and_nothing_else(compose: dict[str, Any]) -> None:
    payload = re.findall(r"^([A-Z0-9_]+)=", (DEPLOY / "example.env").read_text(), re.MULTILINE)
    assert sorted(payload) == sorted(asked_for((DEPLOY / "compose.yaml").read_text()))


def test_the_proxy_is_given_variables_that_its_file_knows(compose: dict[str, Any]) -> None:
    file = (DEPLOY / "haproxy.cfg").read_text()
    for name in compose["services"]["proxy"]["environment"]:
        assert f"presetenv {name} " in file or f"defined({name})" in file, name
    named = {name: its for name, its in compose["services"]["proxy"]["environment"].items() if ":8000" in its}
    assert named == {"WEB_1": "web1:8000", "WEB_2": "web2:8000", "PAY_1": "pay1:8000"}
    # Two processes of as many threads take what the proxy gives them.
    assert compose["services"]["pay1"]["environment"]["GRANIAN_BLOCKING_THREADS"] == "32"
    assert "presetenv PAY_MAXCONN 64" in file


def test_all_that_compose_names_is_there(compose: dict[str, Any]) -> None:
    assert set(compose) - {name for name in compose if name.startswith("x-")} == {"name", "services", "volumes"}
    services, volumes = compose["services"], set()
    for name, service in services.items():
        assert isinstance(service["image"], str), name
        assert set(service.get("depends_on", {})) <= set(services), name
        for mount in service.get("volumes", []):
            source, target, *_ = mount.split(":")
            assert target.startswith("/"), mount
            if source.startswith("."):
                assert (DEPLOY / source).is_file(), mount
            else:
                volumes.add(source)
        if "build" in service:
            folder = DEPLOY / service["build"]["context"]
            assert (folder / service["build"]["dockerfile"]).is_file(), name
        waits = [one["condition"] for one in service.get("depends_on", {}).values()]
        assert set(waits) <= {"service_started", "service_healthy", "service_completed_successfully"}
        for other, one in service.get("depends_on", {}).items():
            assert one["condition"] != "service_healthy" or "healthcheck" in services[other], (name, other)
    assert volumes == set(compose["volumes"])


def test_every_queue_has_a_worker_and_workers_bypass_the_pooler(compose: dict[str, Any]) -> None:
    commands = [service["command"] for name, service in compose["services"].items() if name.startswith("worker")]
    assert sorted(",".join(command[command.index("-Q") + 1] for command in commands).split(",")) == sorted(
        settings.TASK_QUEUES
    )
    at = {name: compose["services"][name]["environment"]["DATABASE_URL"].partition("@")[2] for name in OF_OURS}
    assert {name for name, address in at.items() if address.startswith("pooler")} == {"web1", "web2", "pay1"}
    assert at["web1"].endswith("?disable_server_side_cursors=true")


def test_the_pooler_limits_sessions_as_the_settings_do_by_themselves() -> None:
    text = (DEPLOY / "pgbouncer.ini").read_text()
    file = configparser.RawConfigParser()
    file.read_string(text)
    output = dict(re.findall(r"set_config\(\$\$(\w+)\$\$, \$\$(\d+)\$\$, false\)", file["databases"]["tablewire"]))
    wished = dict(re.findall(r"-c (\w+)=(\d+)", str(settings.SESSION)))
    assert output == wished
    ignored = {name.strip() for name in file["pgbouncer"]["ignore_startup_parameters"].split(",")}
    assert set(wished) <= ignored
    assert "options" not in ignored


@pytest.mark.django_db
def test_postgresql_knows_every_setting_of_its_file() -> None:
    named = set(re.findall(r"^(\w+) =", (DEPLOY / "postgresql.conf").read_text(), re.MULTILINE))
    with connection.cursor() as cursor:
        cursor.execute("SELECT lower(name) FROM pg_settings WHERE lower(name) = ANY(%s)", [list(named)])
        assert {name for (name,) in cursor.fetchall()} == named
    assert len(named) > 20


@pytest.mark.parametrize("script", ["replication.sh", "standby.sh"])
def test_the_scripts_can_be_read(script: str) -> None:
    output = subprocess.run(["bash", "-n", DEPLOY / script], capture_output=True, text=True, check=False)
    assert (output.returncode, output.stderr) == (0, "")


def test_the_image_holds_neither_secrets_nor_tests_nor_root() -> None:
    file = (DEPLOY / "Containerfile").read_text()
    left_out = (DEPLOY / "Containerfile.dockerignore").read_text().splitlines()
    assert {".state", ".git", "tests"} <= set(left_out)
    last = file.rpartition("FROM ")[2]
    assert "USER 10001:10001" in last
    assert "--no-default-groups" in file
