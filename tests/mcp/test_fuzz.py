"""Whatever comes at the MCP endpoint: it answers in JSON or with nothing, never breaks, and nobody pays or books.

A case that fails is printed as small as it could be made; `Maker(seed=...).case(number)` makes the whole of it again.
"""

import json
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from datetime import timedelta
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest
from django.test import Client
from django.utils import timezone
from pytest_django import Settings

from catalogue.models import Export, FlowSlot
from payments.devchain.wallets import Wallet
from payments.models import Payment, Plan
from reservations.models import Reservation
from tests.catalogue import builders
from tests.mcp import client, fuzz_runner
from tests.mcp.fuzz_runner import Seen, problem, shrunk
from tests.mcp.fuzzing import Case, Maker, proof
from tests.mcp.hostile_input import HOSTILE
from tests.payments.buyer import read, signed_by
from tests.support import builders as house
from tests.support.live_server import served
from tests.support.wallets import fresh_wallet, usdc_balance

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.usefixtures("ledger_matches_chain")]

SEED = 7
SHORT, FULL = 300, 20_000
ANSWERS = 150
Send = Callable[[Case], Seen]


@dataclass(frozen=True)
class World:
    """A maker with good credentials, and a payer whose money must stay where it is."""

    maker: Maker
    payer: Wallet


@pytest.fixture
def world(ledger_matches_chain: None, settings: Settings) -> Iterator[World]:
    """Restaurants with all that is sold and a table that can be booked, and somebody who may do everything."""
    settings.TRUSTED_PROXIES = 1
    tomorrow = timezone.now() + timedelta(days=1)
    for slug in ("noma", "geranium"):
        place = builders.restaurant(slug=slug, hours=builders.week("12:00", "22:00"))
        builders.review(place, "The ramen is good.")
        builders.photo(place)
        builders.insight(place)
        builders.listing(place)
        builders.slot(place, starts_at=tomorrow.replace(hour=18, minute=0, second=0, microsecond=0))
    builders.landmark("Tivoli Gardens", "Tivoli", kind="park", market="copenhagen")
    venue = house.venue()
    Plan.objects.create(name="The fuzz", account=venue.account, valid_from=timezone.now(), per_minute=1_000_000)
    payer = fresh_wallet(usdc=Decimal(0))
    good = read(signed_by(payer, max_timeout_seconds=3600))
    payments: list[Mapping[str, Any]] = [good, proof(), {"transaction": "0x" + "5a" * 32}, proof(x402Version=1)]
    yield World(Maker(SEED, credentials=[house.key(venue).text], payments=payments), payer)
    # Nothing was paid and nothing was booked, whatever was asked; the fixture `books` compares ledger and chain.
    assert Payment.objects.filter(state__in=Payment.PAID).count() == 0
    assert usdc_balance(payer.address) == 0
    assert (Reservation.objects.count(), Export.objects.count()) == (0, 0)


def checked(maker: Maker, numbers: range, send: Send) -> Counter[int]:
    """How often each status came; fails with the smallest case that is answered wrong."""
    statuses: Counter[int] = Counter()
    for number in numbers:
        case = maker.case(number)
        seen = send(case)
        statuses[seen.status] += 1
        if found := problem(seen):
            smallest = shrunk(case, lambda other: problem(send(other)) is not None)
            pytest.fail(f"seed {maker.seed}, number {number}: {found}\n{smallest}\n{send(smallest)}")
    return statuses


def test_a_case_is_made_of_its_seed_and_number_alone_and_shrinks_to_what_is_wrong_with_it() -> None:
    assert [Maker(3).case(number) for number in range(50)] == [Maker(3).case(number) for number in range(50)]
    assert len({Maker(3).case(number) for number in range(50)}) == 50
    body = b'{"jsonrpc": "2.0", "id": 4, "params": {"a": [1, {"evil": 1}], "b": "x"}}'
    case = Case(1, "PUT", "/mcp/x", (("Origin", "x"), ("Accept", "y")), body)
    smallest = shrunk(case, lambda other: b"evil" in other.body)
    assert smallest == Case(1, "POST", "/mcp", (), b'{"params": {"a": [{"evil": 1}]}}')


@pytest.mark.exhaustive
def test_no_random_request_gets_a_5xx_or_a_page_or_makes_a_payment_or_booking(world: World) -> None:
    statuses = checked(world.maker, range(SHORT), fuzz_runner.in_process)
    assert statuses.total() == SHORT
    # It goes deep: so many were read and understood.
    assert statuses[200] > SHORT / 4
    assert 429 not in statuses


@pytest.mark.exhaustive
def test_random_elicitation_responses_cause_no_error_and_no_overbooking(
    world: World,
) -> None:
    slot = FlowSlot.objects.earliest("pk")
    content: dict[str, Any] = {"offer_id": slot.public_id, "party_size": 2}
    forms: dict[str, Any] = {"elicitation": {}}
    asks = client.call(Client(), "book_table", era="2026-07-28", capabilities=forms, **content)
    FlowSlot.objects.update(seats_left=0)
    ends: Counter[str] = Counter()
    for number in range(ANSWERS):
        seen = fuzz_runner.in_process(world.maker.answering(number, content, state=asks["requestState"]))
        assert problem(seen) is None, f"seed {SEED}, answer {number}: {seen}"
        answer = json.loads(seen.body)
        result = answer.get("result", {})
        refusal = result.get("_meta", {}).get(client.ERROR, {})
        ends[refusal.get("code") or result.get("resultType") or str(answer["error"]["code"])] += 1
    # Each way was gone: to the book itself, back to the person, who may decline, and no further than the state. One
    # guest has ten tries.
    assert set(ends) == {
        *("slot_full", "rate_limit_exceeded", "input_required", "invalid_request", "-32602", "-32700"),
    }
    assert ends["slot_full"] + ends["rate_limit_exceeded"] > ANSWERS / 10


@pytest.mark.sample(4)
@pytest.mark.parametrize("name", HOSTILE)
def test_a_hostile_body_is_refused_in_json(name: str) -> None:
    hostile = HOSTILE[name]
    seen = fuzz_runner.in_process(hostile.case())
    assert (seen.status, problem(seen)) == (hostile.status, None)
    content = json.loads(seen.body)
    assert content["result"]["isError"] if hostile.status == 200 else content["error"]["code"] in (-32700, -32600)


@pytest.mark.deep
def test_none_of_20_000_random_requests_gets_a_5xx_or_a_page_or_makes_a_payment_or_booking(
    world: World, tmp_path: Path
) -> None:
    with served(tmp_path / "web.log", TRUSTED_PROXIES="1") as base_url, ThreadPoolExecutor(4) as threads:
        share = FULL // 4

        def run(part: int) -> Counter[int]:
            maker = Maker(SEED, credentials=world.maker.credentials, payments=world.maker.payments)
            with fuzz_runner.over_http(base_url) as send:
                return checked(maker, range(part * share, (part + 1) * share), send)

        statuses = sum(threads.map(run, range(4)), Counter[int]())
    assert statuses.total() == FULL == 20_000
    assert statuses[200] > FULL / 4
    assert max(statuses) < 500
