"""`manage.py listen`: a process on a laptop that has the API and a key, and no database."""

import json
import os
import re
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import httpx
import pytest
from django.conf import settings as project
from django.core.management import CommandError, call_command
from django.utils import timezone
from pytest_django import Settings

from accounts.models import EventType, Scope, Venue
from accounts.webhooks import dispatcher, endpoints, outbox
from config.dev_stack.servers import free_port
from framework.public_ids import encode, new_id
from tests.accounts.webhook_receivers import Answer, Received, Receiver, hear, listening, receiving
from tests.support import builders
from tests.support.live_server import NOWHERE, database_url, served
from tests.support.live_stack import eventually

pytestmark = [pytest.mark.stack, pytest.mark.django_db(transaction=True)]

# A busy machine takes long to start the processes.
WAIT_S = 120.0


@dataclass
class Listen:
    """A running command, with the lines that it has printed."""

    process: subprocess.Popen[str]
    lines: list[str] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)

    def wait_for(self, pattern: str) -> str:
        """Return what the first group of the pattern matches in a note, once there is one."""
        found: list[str] = []

        def is_found() -> bool:
            found[:] = [match[1] for line in [*self.notes] if (match := re.search(pattern, line))]
            return bool(found)

        assert eventually(is_found, within_s=WAIT_S)
        return found[0]

    def interrupt(self) -> int:
        """End it as Ctrl-C does; return the exit status."""
        # Not SIGINT, which a suite in the background has its children ignore.
        self.process.send_signal(signal.SIGTERM)
        return self.process.wait(WAIT_S)


@contextmanager
def listen(*words: str, key: str, url: str, is_ready: bool = True) -> Iterator[Listen]:
    """The command, which is killed at the end if it still runs; it listens already if `is_ready`."""
    nowhere = {"DATABASE_URL": database_url(address=NOWHERE), "REDIS_URL": f"redis://{NOWHERE}/0"}
    with subprocess.Popen(
        [sys.executable, "manage.py", "listen", "--url", url, *words],
        cwd=project.BASE_DIR,
        env=os.environ | nowhere | {"API_KEY": key},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    ) as process:
        running = Listen(process)
        readers = [
            threading.Thread(target=read_lines, args=(stream, lines))
            for stream, lines in ((process.stdout, running.lines), (process.stderr, running.notes))
        ]
        for reader in readers:
            reader.start()
        try:
            if is_ready:
                running.wait_for("(Listening) to")
            yield running
        finally:
            process.kill()
            for reader in readers:
                reader.join()


def read_lines(stream: Any, lines: list[str]) -> None:
    lines.extend(line.rstrip("\n") for line in stream)


@pytest.fixture(scope="module")
def web(django_db_setup: None, tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """A web server on the database of the tests."""
    with served(tmp_path_factory.mktemp("web") / "web.log") as base_url:
        yield base_url


def record(venue: Venue, kind: EventType = EventType.ORDER_CREATED, **values: Any) -> str:
    """Record an event; return its public id."""
    data = {"id": encode("ord", new_id()), **values}
    return encode(
        "evt", outbox.record_event(venue, kind, record=data, subject=None, actor="system", now=timezone.now())
    )


def ids(receiver: Receiver) -> list[str]:
    return [received.headers["webhook-id"] for received in receiver.received]


def test_each_event_is_forwarded_once_as_its_webhook(venue: Venue, web: str, settings: Settings) -> None:
    settings.WEBHOOKS_TO_LOOPBACK = True
    key = builders.key(venue)
    record(venue)
    with receiving() as laptop, receiving() as server:
        endpoints.create(venue, url=server.url)
        with listen("--forward-to", laptop.url, key=key.text, url=web) as running:
            secret = running.wait_for(r"signed with (whsec_\S+)")
            old = [record(venue, total="9.50", note="Crème brûlée 🍮", number=2**60, share=0.1) for _ in range(3)]
            assert eventually(lambda: ids(laptop) == old, within_s=WAIT_S)
            # Events of the last three minutes are listed again, with those that are new.
            new = record(venue, EventType.MENU_UPDATED, items=7)
            assert eventually(lambda: ids(laptop) == [*old, new], within_s=WAIT_S)
            # Its line is printed after the receiver has answered.
            assert eventually(lambda: len(running.lines) == 4, within_s=WAIT_S)
            assert running.interrupt() == 0
        dispatcher.run(clock=timezone.now, claim_s=0.5)
    sent = {received.headers["webhook-id"]: received for received in server.received}
    for received in laptop.received:
        delivered = sent[received.headers["webhook-id"]]
        assert received.verified(secret)["type"] in ("order.created", "menu.updated")
        assert received.body == delivered.body
        own = {"webhook-timestamp", "webhook-signature", "host", "connection", "accept", "accept-encoding"}
        assert {name: value for name, value in received.headers.items() if name not in own} == {
            name: value for name, value in delivered.headers.items() if name not in own
        }
    assert [re.split(" {2,}", line)[1:4] for line in running.lines] == [
        *(["order.created", event, "200"] for event in old),
        ["menu.updated", new, "200"],
    ]
    assert running.notes[-1] == "Stopped after 4 events."


def test_a_receiver_that_is_down_or_killed_gets_each_event_when_it_is_back(venue: Venue, web: str) -> None:
    port = free_port()
    secret = "whsec_" + "A" * 44
    words = ("--forward-to", f"http://127.0.0.1:{port}/hooks", "--secret", secret)
    with listen(*words, key=builders.key(venue).text, url=web) as running:
        first = record(venue)
        running.wait_for(f"(does not take {first} yet)")
        with receiving(port=port) as receiver:
            assert eventually(lambda: ids(receiver) == [first], within_s=WAIT_S)
        second, third = record(venue), record(venue)
        running.wait_for(f"(does not take {second} yet)")
        # It asks for a pause once. Then any answer is one.
        with receiving(ask_for_a_pause_first, port=port) as receiver:
            assert eventually(lambda: ids(receiver) == [second, second, third], within_s=WAIT_S)
            assert [received.verified(secret)["type"] for received in receiver.received] == ["order.created"] * 3
        # The secret was given, so it is not printed.
        assert secret not in "\n".join(running.notes)
        assert running.interrupt() == 0
    assert [line.split()[-3] for line in running.lines] == ["200", "500", "500"]


def ask_for_a_pause_first(_: Received, before: int) -> Answer:
    return Answer(500 if before else 503, b"", (("Retry-After", "1"),))


def test_a_receiver_that_is_killed_before_it_answers_gets_the_event_again(venue: Venue, web: str) -> None:
    with listening(hear_and_close) as (port, came):
        words = ("--forward-to", f"http://127.0.0.1:{port}/hooks")
        with listen(*words, key=builders.key(venue).text, url=web) as running:
            event = record(venue)
            running.wait_for(f"(does not take {event} yet)")
            assert eventually(lambda: len(came) >= 3, within_s=WAIT_S)
            assert running.lines == []


def hear_and_close(connection: Any) -> None:
    hear(connection)
    connection.close()


def test_events_of_an_outage_of_the_api_are_forwarded_after_it(venue: Venue, tmp_path: Path) -> None:
    port = free_port()
    url = f"http://127.0.0.1:{port}"
    with receiving() as receiver:
        words = ("--forward-to", receiver.url)
        with listen(*words, key=builders.key(venue).text, url=url, is_ready=False) as running:
            # It starts before the API does.
            running.wait_for("(The API does not answer)")
            with served(tmp_path / "first.log", port=str(port)):
                running.wait_for("(Listening) to")
                events = [record(venue)]
                assert eventually(lambda: ids(receiver) == events, within_s=WAIT_S)
            events += [record(venue) for _ in range(150)]
            with served(tmp_path / "second.log", port=str(port)):
                assert eventually(lambda: len(receiver.received) >= 151, within_s=WAIT_S)
                time.sleep(2.5)
                assert sorted(ids(receiver)) == sorted(events)
    assert running.notes.count("The API answers again.") >= 1


def test_waiting_for_events_costs_no_calls(venue: Venue, web: str) -> None:
    key = builders.key(venue).text
    headers = {"Authorization": f"Bearer {key}"}
    with listen("--print-only", key=key, url=web) as running:
        time.sleep(2)
        before = int(httpx.get(f"{web}/api/v1/menu", headers=headers).headers["x-ratelimit-remaining"])
        time.sleep(3.5)
        after = int(httpx.get(f"{web}/api/v1/menu", headers=headers).headers["x-ratelimit-remaining"])
        assert running.process.poll() is None
    assert before - after == 1


def test_a_key_without_calls_left_waits_for_the_next_hour(venue: Venue, web: str) -> None:
    with listen("--print-only", key=builders.key(venue, allowance=1).text, url=web) as running:
        wait_s = float(running.wait_for(r"The API does not answer: .* Trying again in (\d+) s\."))
        assert 0 < wait_s <= 3601
        assert running.interrupt() == 0


def test_events_of_some_types_are_printed_as_lines_of_json(venue: Venue, web: str) -> None:
    key = builders.key(venue).text
    with listen("--print-only", "--types", "menu.updated, order.cancelled", key=key, url=web) as running:
        record(venue)
        event = record(venue, EventType.MENU_UPDATED, note="[red]\x9b31m\u202e" + "x" * 300)
        assert eventually(lambda: bool(running.lines), within_s=WAIT_S)
    (line,) = running.lines
    found = json.loads(line)
    assert (found["id"], found["type"]) == (event, "menu.updated")
    # What a terminal would obey is replaced.
    assert found["data"]["note"] == "[red]\ufffd31m\ufffd" + "x" * 300


@pytest.mark.parametrize(
    ("scopes", "words", "message"),
    [
        (None, ("--print-only", "--key", "rk_live_nonsense"), "This is not an API key"),
        (None, ("--print-only", "--key", " "), "Give an API key of the venue: --key, or the variable API_KEY."),
        ([Scope.ORDERS_WRITE], ("--print-only",), "This API key lacks the scope `orders:read`."),
        (None, ("--print-only", "--types", "order.lost"), "These must be some of: order.created"),
        (None, ("--forward-to", "localhost:3000"), "localhost:3000 is no address"),
        (None, ("--print-only", "--secret", "abc"), "--secret is `whsec_` and base64."),
        (None, (), "one of the arguments --forward-to --print-only is required"),
    ],
)
def test_what_cannot_work_is_said_and_ends(
    venue: Venue, web: str, scopes: list[str] | None, words: tuple[str, ...], message: str
) -> None:
    key = builders.key(venue, **({} if scopes is None else {"scopes": scopes})).text
    with pytest.raises(CommandError) as refused:
        call_command("listen", "--key", key, "--url", web, *words)
    assert message in str(refused.value)


def test_another_server_is_not_taken_for_the_api(venue: Venue, web: str) -> None:
    words = ("listen", "--print-only", "--key", builders.key(venue).text, "--url")
    with pytest.raises(CommandError, match="404"):
        call_command(*words, f"{web}/docs")
    with receiving() as other:
        url = f"http://127.0.0.1:{other.server_port}"
        with pytest.raises(CommandError, match="does not answer as the API does"):
            call_command(*words, url)
