"""/metrics: who may read it, and that it tells of all processes of a web server and of the ledger exactly."""

import os
import subprocess
import sys
from collections.abc import Mapping
from datetime import timedelta
from decimal import Decimal
from pathlib import Path

import httpx
import pytest
from django.conf import LazySettings
from django.conf import settings as configuration
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.utils import timezone
from prometheus_client.parser import text_string_to_metric_families

from config.dev_stack.servers import free_port
from framework.observability import prometheus_multiprocess
from framework.public_ids import new_id
from payments.devchain.wallets import Wallet
from payments.models import Audit, Payment
from payments.observability import counters, ledger_collector
from tests.payments.buyer import buy, paid_by, refused, signed_by
from tests.payments.facilitators import refuses, serving
from tests.support.live_server import served

State = Payment.State
Series = Mapping[tuple[str, tuple[tuple[str, str], ...]], float]


def read(text: str) -> Series:
    """The samples by their name and labels."""
    return {
        (sample.name, tuple(sorted(sample.labels.items()))): sample.value
        for family in text_string_to_metric_families(text)
        for sample in family.samples
    }


def counted(name: str, **labels: str) -> float:
    """What this process has counted, or nothing."""
    return read(counters.render().decode()).get((name, tuple(sorted(labels.items()))), 0.0)


@pytest.fixture(autouse=True)
def _fresh_tallies() -> None:
    """No test reads what another has counted of the ledger."""
    ledger_collector.ledger.cached_until = 0.0


def line(number: int, **values: object) -> Payment:
    """A line of the ledger."""
    payload: dict[str, object] = {
        "form": "tx",
        "state": State.DELIVERED,
        "network": "eip155:84532",
        "asset": "0x" + "11" * 20,
        "payer": "0x" + "ab" * 20,
        "pay_to": "0x" + "22" * 20,
        "amount_usdc": Decimal("0.002"),
        "proof_key": f"tx:{number}",
        "purchase": "0" * 64,
        "resource": "https://api.example.com/v1/restaurants/noma?fields=context",
        "products": ["context"],
        "tier": "free",
        "tx_hash": f"0x{number:064x}",
        "created_at": timezone.now(),
        "claimed_at": timezone.now(),
        "settled_at": timezone.now(),
    }
    return Payment.objects.create(**payload | values)


# Who may read
@pytest.mark.django_db
def test_the_token_opens_it_from_anywhere_and_nothing_else_does(client: Client, settings: LazySettings) -> None:
    settings.METRICS_TOKEN = "a secret"
    for shown in ("", "Bearer", "Bearer a secre", "Bearer a secret2", "Basic a secret", "Bearer ü"):
        refusal = client.get("/metrics", headers={"authorization": shown})
        assert (refusal.status_code, refusal["WWW-Authenticate"]) == (401, "Bearer")
        assert "tablewire_" not in refusal.content.decode()
    answer = client.get("/metrics", headers={"authorization": "bearer a secret"}, REMOTE_ADDR="192.0.2.1")
    assert answer.status_code == 200
    assert answer["Content-Type"] == "text/plain; version=0.0.4; charset=utf-8"
    assert "no-store" in answer["Cache-Control"]
    assert client.post("/metrics").status_code in (403, 405)


@pytest.mark.parametrize("address", ["127.0.0.1", "127.8.8.8", "::1", "::ffff:127.0.0.1"])
@pytest.mark.django_db
def test_without_a_token_this_machine_may_read(client: Client, settings: LazySettings, address: str) -> None:
    settings.METRICS_TOKEN, settings.PUBLIC_BASE_URL = "", "http://127.0.0.1:8000"
    assert client.get("/metrics", REMOTE_ADDR=address).status_code == 200


@pytest.mark.sample(6)
@pytest.mark.parametrize("hops", [0, 1, 2])
@pytest.mark.parametrize(
    "payload",
    [
        {"HTTP_X_FORWARDED_FOR": "127.0.0.1"},
        {"HTTP_X_FORWARDED_FOR": ""},
        {"HTTP_X_FORWARDED_FOR": "203.0.113.9, 127.0.0.1"},
        {"HTTP_X_REAL_IP": "127.0.0.1"},
        {"HTTP_FORWARDED": "for=127.0.0.1"},
        {"HTTP_VIA": "1.1 proxy"},
        {"REMOTE_ADDR": "10.0.0.7"},
        {"REMOTE_ADDR": "192.0.2.1"},
        {"REMOTE_ADDR": ""},
        {"REMOTE_ADDR": "unix:"},
    ],
)
@pytest.mark.django_db
def test_metrics_without_a_token_are_refused_to_other_hosts_and_through_a_proxy(
    client: Client, settings: LazySettings, hops: int, payload: Mapping[str, str]
) -> None:
    settings.METRICS_TOKEN, settings.PUBLIC_BASE_URL, settings.TRUSTED_PROXIES = "", "http://127.0.0.1:8000", hops
    refusal = client.get("/metrics", **payload)  # type: ignore[arg-type]  # these are no headers of its own
    assert refusal.status_code == 403
    assert "METRICS_TOKEN" in refusal.content.decode()


@pytest.mark.django_db
def test_an_installation_with_a_public_address_has_a_proxy_that_may_say_nothing(
    client: Client, settings: LazySettings
) -> None:
    settings.METRICS_TOKEN, settings.PUBLIC_BASE_URL = "", "https://api.example.com"
    assert client.get("/metrics", REMOTE_ADDR="127.0.0.1").status_code == 403


# What the ledger says
@pytest.mark.django_db
def test_ledger_page_shows_exact_amounts(client: Client) -> None:
    line(1)
    line(2, amount_usdc=Decimal("0.004"), state=State.SETTLED)
    line(3, products=["reviews", "context"], tier="pro", form="v2", amount_usdc=Decimal("0.005"))
    line(4, state=State.REFUND_DUE, amount_usdc=Decimal("0.25"))
    line(5, state=State.UNKNOWN, form="v1", created_at=timezone.now() - timedelta(minutes=5))
    line(6, state=State.EXPIRED, form="v1")
    payload = read(client.get("/metrics").content.decode())
    expected = {
        ("tablewire_ledger_readable", ()): 1,
        ("tablewire_payments", (("form", "tx"), ("state", "delivered"))): 1,
        ("tablewire_payments", (("form", "tx"), ("state", "settled"))): 1,
        ("tablewire_payments", (("form", "tx"), ("state", "refund_due"))): 1,
        ("tablewire_payments", (("form", "v2"), ("state", "delivered"))): 1,
        ("tablewire_payments", (("form", "v1"), ("state", "unknown"))): 1,
        ("tablewire_payments", (("form", "v1"), ("state", "expired"))): 1,
        ("tablewire_revenue_usdc", (("products", "context"), ("tier", "free"))): 0.006,
        ("tablewire_revenue_usdc", (("products", "context+reviews"), ("tier", "pro"))): 0.005,
        ("tablewire_refund_due_usdc", ()): 0.25,
        ("tablewire_payments_open", ()): 1,
    }
    assert {key: value for key, value in payload.items() if key in expected} == expected
    assert 300 <= payload["tablewire_payments_open_oldest_seconds", ()] < 320


@pytest.mark.django_db
def test_without_any_audit_its_age_is_that_of_the_oldest_payment(client: Client) -> None:
    names = ("tablewire_audit_age_seconds", "tablewire_audit_differences", "tablewire_audit_orphans")
    payload = read(client.get("/metrics").content.decode())
    assert [payload[name, ()] for name in names] == [0, 0, 0]
    ledger_collector.ledger.cached_until = 0.0
    line(1, created_at=timezone.now() - timedelta(days=2))
    line(2)
    payload = read(client.get("/metrics").content.decode())
    assert 172_800 <= payload["tablewire_audit_age_seconds", ()] < 172_820
    assert payload["tablewire_audit_differences", ()] == 0


@pytest.mark.django_db
def test_audits_of_seven_days_are_shown_and_a_clean_one_hides_none(client: Client) -> None:
    line(1, created_at=timezone.now() - timedelta(days=30))
    now = timezone.now()
    for first, age, orphans in ((0, 24 * 7 + 1, 5), (10, 26, 1), (20, 26, 2), (30, 2, 0)):
        ended = now - timedelta(hours=age)
        Audit.objects.create(
            id=new_id(),
            network="eip155:84532",
            pay_to="0x" + "22" * 20,
            first_block=first,
            last_block=first + 9,
            started_at=ended,
            ended_at=ended,
            orphans=orphans,
            differences=["one"] * orphans,
        )
    payload = read(client.get("/metrics").content.decode())
    assert (payload["tablewire_audit_orphans", ()], payload["tablewire_audit_differences", ()]) == (3, 3)
    assert 7200 <= payload["tablewire_audit_age_seconds", ()] < 7220


@pytest.mark.django_db
def test_the_ledger_is_counted_once_in_a_while_by_four_statements_at_most(client: Client) -> None:
    with CaptureQueriesContext(connection) as asked:
        client.get("/metrics")
        client.get("/metrics")
    assert len(asked) == 4
    Audit.objects.create(
        network="n", pay_to="p", first_block=1, last_block=1, started_at=timezone.now(), ended_at=timezone.now()
    )
    ledger_collector.ledger.cached_until = 0.0
    with CaptureQueriesContext(connection) as asked:
        client.get("/metrics")
        client.get("/metrics")
    assert len(asked) == 3


@pytest.mark.django_db
def test_no_series_names_a_payer_or_what_was_asked_for(client: Client) -> None:
    line(1)
    output = client.get("/metrics").content.decode()
    assert "0x" not in output
    assert "noma" not in output


# What is counted
@pytest.mark.exhaustive
@pytest.mark.django_db(transaction=True)
@pytest.mark.usefixtures("ledger_matches_chain")
def test_challenges_settlements_refusals_and_trips_are_counted(
    wallets: Mapping[str, Wallet], settings: LazySettings
) -> None:
    def now() -> list[float]:
        return [
            counted("tablewire_payment_challenges_total", product="context", channel="rest"),
            counted("tablewire_settle_seconds_count", outcome="settled"),
            counted("tablewire_settle_seconds_count", outcome="rejected"),
            counted("tablewire_settle_seconds_count", outcome="notsent"),
            counted("tablewire_settle_seconds_count", outcome="unknown"),
            counted("tablewire_payment_refusals_total", reason="invalid_exact_evm_insufficient_balance"),
            counted("tablewire_payment_refusals_total", reason="settlement_pending"),
            counted("tablewire_payment_refusals_total", reason="wrong_amount"),
            counted("tablewire_payment_refusals_total", reason="facilitator_unavailable"),
        ]

    before, real = now(), settings.FACILITATOR_URL
    refused({})
    buy(paid_by(wallets["free"]))
    refused(signed_by(wallets["free"], value=1))
    for output in ("invalid_exact_evm_insufficient_balance", "invalid_0xABC: somebody's own words"):
        with serving(refuses(output)) as server:
            settings.FACILITATOR_URL = server.url
            refused(signed_by(wallets["free"]))
    # An address of its own: others leave theirs alone for a while too.
    settings.FACILITATOR_URL = f"http://127.0.0.1:{free_port()}"
    for _ in range(2):
        refused(signed_by(wallets["free"]))
    assert counted("tablewire_facilitator_circuit_open", facilitator="first") == 1
    settings.FACILITATOR_URL = real
    challenged = [after - earlier for after, earlier in zip(now(), before, strict=True)]
    assert challenged == [challenged[0], 1, 1, 2, 1, 1, 1, 1, 2]
    assert challenged[0] >= 1
    buy(paid_by(wallets["free"]))
    assert counted("tablewire_facilitator_circuit_open", facilitator="first") == 0
    assert counted("tablewire_rpc_seconds_count", method="eth_call", outcome="answered") > 0


def test_reasons_are_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    from framework.errors import ServiceUnavailable

    monkeypatch.setattr(counters, "reasons", {f"reason_{number}" for number in range(60)})
    assert counters.reason_label(ServiceUnavailable()) == "other"
    monkeypatch.setattr(counters, "reasons", set())
    assert counters.reason_label(ServiceUnavailable()) == "service_unavailable"


# Several processes
@pytest.mark.stack
@pytest.mark.django_db(transaction=True)
def test_each_of_two_processes_tells_of_both(transactional_db: None, tmp_path: Path) -> None:
    line(1)
    environment = {
        "GRANIAN_WORKERS": "2",
        "TABLEWIRE_STATE_DIR": str(tmp_path),
        "PUBLIC_BASE_URL": "http://127.0.0.1:8000",
        "RPC_URL": configuration.RPC_URL,
    }
    address = "/v1/auth/challenge?address=0x" + "0c" * 20
    with served(tmp_path / "web.log", **environment) as base_url:
        # Each connection of its own: whichever process takes it.
        shown = [httpx.get(f"{base_url}/metrics") for _ in range(12)]
        assert {answer.status_code for answer in shown} == {200}, address
        (folder,) = (tmp_path / "metrics").iterdir()
        assert folder.stat().st_mode & 0o777 == 0o700
        payload = [
            read(answer.text)["tablewire_payments", (("form", "tx"), ("state", "delivered"))] for answer in shown
        ]
        assert set(payload) == {1}
        assert httpx.get(f"{base_url}/metrics", headers={"X-Forwarded-For": "127.0.0.1"}).status_code == 403


COUNTING = """
import sys
from pathlib import Path
from framework.observability import prometheus_multiprocess
prometheus_multiprocess.use_shared_directory(Path(sys.argv[1]))
import django
django.setup()
from payments.observability import counters
counters.CHALLENGES.labels("context", "rest").inc(int(sys.argv[2]))
counters.CIRCUIT_OPEN.labels("first").set(1)
print(counters.render().decode())
"""


@pytest.mark.stack
def test_processes_of_one_parent_count_together_and_gauges_of_ended_processes_are_deleted(tmp_path: Path) -> None:
    output = []
    for number in (1, 2):
        command = [sys.executable, "-c", COUNTING, str(tmp_path), str(number)]
        env = {**os.environ, "DJANGO_SETTINGS_MODULE": "config.settings"}
        ended = subprocess.run(
            command, cwd=configuration.BASE_DIR, env=env, capture_output=True, text=True, check=True
        )
        output.append(read(ended.stdout))
    total = ("tablewire_payment_challenges_total", (("channel", "rest"), ("product", "context")))
    circuit_open = ("tablewire_facilitator_circuit_open", (("facilitator", "first"),))
    assert [payload[total] for payload in output] == [1, 3]
    assert [payload[circuit_open] for payload in output] == [1, 1]


def test_the_counts_of_a_server_that_has_ended_are_taken_away(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(prometheus_multiprocess.ENV_VARIABLE, "")  # so that what is set in here is taken back
    host = "a-host"
    monkeypatch.setattr("socket.gethostname", lambda: host)
    for name in (f"{host}-{os.getppid()}-1", f"{host}-99999999-5", f"another-{os.getppid()}-1"):
        (tmp_path / name).mkdir()
    prometheus_multiprocess.use_shared_directory(tmp_path)
    mine = f"{host}-{os.getppid()}-{prometheus_multiprocess.process_start_time(os.getppid())}"
    assert {folder.name for folder in tmp_path.iterdir()} == {mine, f"another-{os.getppid()}-1"}
    assert os.environ[prometheus_multiprocess.ENV_VARIABLE] == str(tmp_path / mine)


def test_where_nothing_can_be_written_each_process_counts_for_itself(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.delenv(prometheus_multiprocess.ENV_VARIABLE, raising=False)
    (tmp_path / "metrics").write_text("a file")
    prometheus_multiprocess.use_shared_directory(tmp_path / "metrics")
    assert prometheus_multiprocess.ENV_VARIABLE not in os.environ
    assert "count each for itself" in caplog.text


def test_the_moment_of_a_process_tells_it_from_another() -> None:
    assert prometheus_multiprocess.process_start_time(os.getpid()).isdigit()
    assert prometheus_multiprocess.process_start_time(99999999) == ""
