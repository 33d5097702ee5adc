"""A tier has to be held for a while before it counts, and is lost at once."""

import json
from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from decimal import Decimal
from secrets import token_hex
from threading import Event, Thread

import httpx
import pytest
from django.conf import settings
from django.db import connection, transaction
from hypothesis import HealthCheck, given
from hypothesis import settings as hypothesis
from hypothesis import strategies as st
from pytest_django import Settings

from payments import retention
from payments.chain.evm import to_checksum_address
from payments.chain.rpc import RpcUnavailable
from payments.checkout.context import TierRequired
from payments.devchain.wallets import Wallet as Key
from payments.models import HoldingSnapshot, Payment, Wallet
from payments.tiers import holdings, terms
from payments.tiers.definitions import FREE, PREMIUM, PRO, TIERS, Tier
from payments.tiers.terms import PendingTier
from tests.payments.buyer import REVIEWS, buy, proven, purchase_for, refused, signed_by
from tests.payments.facilitator_server.policies import JSON
from tests.payments.facilitators import serving
from tests.payments.transfers import send
from tests.support.live_server import NOWHERE
from tests.support.wallets import fresh_wallet, transfer_usdc, usdc_balance

AGE = timedelta(minutes=10)
ZERO = timedelta(0)
# At the chain's two USD a token.
PRO_TOKENS, PREMIUM_TOKENS = Decimal(50), Decimal(500)

pytestmark = pytest.mark.django_db


@pytest.fixture(autouse=True)
def _as_in_production(settings: Settings) -> None:
    settings.TIER_CACHE_S = settings.TIER_UPGRADE_AGE_S = 600


def minutes(count: float) -> timedelta:
    return timedelta(minutes=count)


def tier_of(key: Key, at: datetime) -> Tier:
    """The tier that the wallet is served on at this moment."""
    return holdings.load_terms(key.address, now=at).tier


def give_away(key: Key, settings: Settings, tokens: Decimal, to: str = "0x" + "0b" * 20) -> None:
    send(key, settings.TOKEN_ADDRESS, "transfer(address,uint256)", to, int(tokens.scaleb(18)))


def seen(address: str, tier: Tier, at: datetime) -> None:
    """Write a reading of this tier."""
    usd = tier.from_usd or Decimal(0)
    holdings.record_reading(
        Wallet(address=address),
        HoldingSnapshot(wallet_id=address, read_at=at, tier=tier.name, holdings_usd=usd, staked=Decimal(0)),
    )


def random_address() -> str:
    return f"0x{token_hex(20)}"


# On the chain
def test_a_new_wallet_is_free_until_its_holdings_have_lasted() -> None:
    key, start = fresh_wallet(tokens=PRO_TOKENS), datetime.now(UTC)
    assert holdings.load_terms(key.address, now=start) == terms.tier_terms(
        FREE, pending_tier=PendingTier(tier=PRO, at=start + AGE)
    )
    row = Wallet.objects.get()
    assert (row.tier, row.holdings_usd, row.pending_tier, row.pending_tier_at) == (
        "free",
        Decimal(100),
        "pro",
        start + AGE,
    )
    assert tier_of(key, start + AGE - timedelta(microseconds=1)) == FREE
    assert holdings.load_terms(key.address, now=start + AGE) == terms.tier_terms(PRO)
    assert (Wallet.objects.get().pending_tier, Wallet.objects.get().pending_tier_at) == ("", None)


def test_a_pending_tier_applies_on_time_though_the_last_reading_is_fresh(settings: Settings) -> None:
    key, start = fresh_wallet(tokens=PRO_TOKENS), datetime.now(UTC)
    tier_of(key, start)
    settings.TIER_CACHE_S = 60
    assert tier_of(key, start + minutes(9.5)) == FREE
    settings.TIER_CACHE_S = 600
    assert tier_of(key, start + AGE) == PRO


def test_tiers_are_reached_in_steps_as_the_holdings_grew(settings: Settings) -> None:
    key, start = fresh_wallet(tokens=PREMIUM_TOKENS), datetime.now(UTC)
    settings.TIER_CACHE_S = 60
    other = fresh_wallet()
    give_away(key, settings, PREMIUM_TOKENS - PRO_TOKENS, to=other.address)
    assert holdings.load_terms(key.address, now=start).pending_tier == PendingTier(tier=PRO, at=start + AGE)
    give_away(other, settings, PREMIUM_TOKENS - PRO_TOKENS, to=key.address)
    assert holdings.load_terms(key.address, now=start + minutes(4)).pending_tier == PendingTier(
        tier=PRO, at=start + AGE
    )
    found = holdings.load_terms(key.address, now=start + AGE)
    assert (found.tier, found.pending_tier) == (PRO, PendingTier(tier=PREMIUM, at=start + minutes(14)))
    assert holdings.load_terms(key.address, now=start + minutes(14)) == terms.tier_terms(PREMIUM)


def test_a_stake_has_to_last_as_well(settings: Settings) -> None:
    key, start = fresh_wallet(tokens=Decimal(settings.PREMIUM_STAKE)), datetime.now(UTC)
    send(key, settings.TOKEN_ADDRESS, "stake(uint256)", settings.PREMIUM_STAKE * 10**18)
    assert tier_of(key, start) == FREE
    assert tier_of(key, start + AGE) == PREMIUM
    assert Wallet.objects.get().staked == settings.PREMIUM_STAKE


def test_what_is_sold_is_lost_at_once_and_has_to_last_again_when_it_is_back(settings: Settings) -> None:
    key, other = fresh_wallet(tokens=PREMIUM_TOKENS), fresh_wallet()
    start = datetime.now(UTC)
    seen(key.address, PREMIUM, start - minutes(60))
    assert tier_of(key, start) == PREMIUM
    give_away(key, settings, PREMIUM_TOKENS, to=other.address)
    assert tier_of(key, start + minutes(10)) == FREE
    give_away(other, settings, PREMIUM_TOKENS, to=key.address)
    settings.TIER_CACHE_S = 60
    assert tier_of(key, start + minutes(12)) == FREE
    # The reading without it counts until one with it is old enough.
    assert tier_of(key, start + minutes(21)) == FREE
    assert tier_of(key, start + minutes(22)) == PREMIUM


def test_what_is_lent_for_one_reading_leads_nowhere(settings: Settings) -> None:
    key, start = fresh_wallet(tokens=PREMIUM_TOKENS), datetime.now(UTC)
    assert tier_of(key, start) == FREE
    give_away(key, settings, PREMIUM_TOKENS)
    for later in (5, 10, 15, 30, 60):
        assert tier_of(key, start + minutes(later)) == FREE


@pytest.mark.exhaustive
def test_one_bag_of_tokens_that_is_moved_around_raises_no_wallet(settings: Settings) -> None:
    keys, start = [fresh_wallet() for _ in range(5)], datetime.now(UTC)
    bag = fresh_wallet(tokens=PREMIUM_TOKENS)
    holder = bag
    for round_starts_at in (start, start + minutes(15), start + minutes(30)):
        for count, key in enumerate(keys):
            give_away(holder, settings, PREMIUM_TOKENS, to=key.address)
            holder = key
            assert tier_of(key, round_starts_at + minutes(count)) == FREE
    # The last one has it since its last reading.
    assert [tier_of(key, start + minutes(45)) for key in keys] == [FREE, FREE, FREE, FREE, PREMIUM]


def test_what_is_borrowed_for_two_readings_leads_nowhere(settings: Settings) -> None:
    key, lender = fresh_wallet(), fresh_wallet(tokens=PREMIUM_TOKENS)
    start = datetime.now(UTC)
    for at in (start, start + AGE, start + 2 * AGE):
        give_away(lender, settings, PREMIUM_TOKENS, to=key.address)
        found = holdings.load_terms(key.address, now=at)
        give_away(key, settings, PREMIUM_TOKENS, to=lender.address)
        assert (found.tier, found.pending_tier) == (FREE, PendingTier(tier=PREMIUM, at=at + AGE))
    assert list(HoldingSnapshot.objects.order_by("read_at").values_list("tier", "lowest_tier")) == [
        ("premium", "premium"),
        ("premium", "free"),
        ("premium", "free"),
    ]


def test_a_stake_that_is_lent_between_two_readings_leads_nowhere(settings: Settings) -> None:
    tokens = Decimal(settings.PREMIUM_STAKE)
    key, other = fresh_wallet(tokens=tokens), fresh_wallet()
    start, amount = datetime.now(UTC), settings.PREMIUM_STAKE * 10**18
    send(key, settings.TOKEN_ADDRESS, "stake(uint256)", amount)
    assert tier_of(key, start) == FREE
    send(key, settings.TOKEN_ADDRESS, "unstake(uint256)", amount)
    give_away(key, settings, tokens, to=other.address)
    give_away(other, settings, tokens, to=key.address)
    send(key, settings.TOKEN_ADDRESS, "stake(uint256)", amount)
    assert tier_of(key, start + AGE) == FREE
    assert tier_of(key, start + 2 * AGE) == PREMIUM


def test_staking_what_is_held_keeps_the_tier_of_the_holding(settings: Settings) -> None:
    key, start = fresh_wallet(tokens=PRO_TOKENS), datetime.now(UTC)
    tier_of(key, start)
    send(key, settings.TOKEN_ADDRESS, "stake(uint256)", 20 * 10**18)
    send(key, settings.TOKEN_ADDRESS, "transfer(address,uint256)", key.address, 30 * 10**18)
    assert tier_of(key, start + AGE) == PRO
    send(key, settings.TOKEN_ADDRESS, "unstake(uint256)", 5 * 10**18)
    assert tier_of(key, start + 2 * AGE) == PRO


def test_a_reading_of_known_wallets_is_one_request_and_searches_the_transfers_since_the_last(
    settings: Settings,
) -> None:
    key, start, real = fresh_wallet(tokens=PRO_TOKENS), datetime.now(UTC), settings.RPC_URL
    tier_of(key, start)
    block = Wallet.objects.get().read_block
    with serving(lambda content: (200, httpx.post(real, content=content, headers=JSON).content)) as node:
        settings.RPC_URL = node.url
        assert tier_of(key, start + AGE) == PRO
        [calls] = [json.loads(content) for content in node.asked]
    searches = [call["params"][0] for call in calls if call["method"] == "eth_getLogs"]
    assert [(search["fromBlock"], search["toBlock"]) for search in searches] == [(hex(block or 0), "latest")] * 2
    # Nodes that store no earlier state answer the rest.
    assert {call["params"][-1] for call in calls if call["method"] == "eth_call"} == {"latest"}


def test_after_a_long_break_no_more_is_searched_than_a_node_searches_in_one_call(settings: Settings) -> None:
    key, start, real = fresh_wallet(tokens=PRO_TOKENS), datetime.now(UTC), settings.RPC_URL
    tier_of(key, start)
    head = 1_000_000

    def far(content: bytes) -> tuple[int, bytes]:
        requests = json.loads(content)
        several = requests if isinstance(requests, list) else [requests]
        asked.extend(call["params"][0]["fromBlock"] for call in several if call["method"] == "eth_getLogs")
        answers = json.loads(httpx.post(real, content=content, headers=JSON).content)
        for call, answer in zip(several, answers if isinstance(answers, list) else [answers], strict=True):
            if call["method"] == "eth_blockNumber":
                answer["result"] = hex(head)
        return 200, json.dumps(answers).encode()

    asked: list[str] = []
    with serving(far) as node:
        settings.RPC_URL = node.url
        assert tier_of(key, start + timedelta(hours=20)) == PRO
    assert asked == [hex(head - 9_000)] * 2


def test_a_node_that_refuses_to_search_raises_no_tier_and_is_named_in_the_log(
    settings: Settings, caplog: pytest.LogCaptureFixture
) -> None:
    key, start, real = fresh_wallet(tokens=PRO_TOKENS), datetime.now(UTC), settings.RPC_URL
    tier_of(key, start)

    def refuses_logs(content: bytes) -> tuple[int, bytes]:
        answers = json.loads(httpx.post(real, content=content, headers=JSON).content)
        for call, answer in zip(json.loads(content), answers, strict=True):
            if call["method"] == "eth_getLogs":
                del answer["result"]
                answer["error"] = {"code": -32000, "message": "block range too large"}
        return 200, json.dumps(answers).encode()

    with serving(refuses_logs) as node:
        settings.RPC_URL = node.url
        assert tier_of(key, start + AGE) == FREE
    assert "no holdings are read, because the node refuses to: eth_getLogs: " in caplog.text
    assert "block range too large" in caplog.text


def test_while_the_chain_is_down_no_tier_is_upgraded(settings: Settings) -> None:
    key, start = fresh_wallet(tokens=PRO_TOKENS), datetime.now(UTC)
    tier_of(key, start)
    settings.RPC_URL, real = f"http://{NOWHERE}", settings.RPC_URL
    before = Wallet.objects.values().get()
    for later in (AGE, timedelta(hours=23, minutes=59)):
        assert holdings.load_terms(key.address, now=start + later) == terms.tier_terms(FREE)
    with pytest.raises(RpcUnavailable):
        tier_of(key, start + timedelta(hours=24))
    assert (Wallet.objects.values().get(), HoldingSnapshot.objects.count()) == (before, 1)
    settings.RPC_URL = real
    assert tier_of(key, start + timedelta(hours=23)) == PRO


@pytest.mark.django_db(transaction=True)
@pytest.mark.usefixtures("ledger_matches_chain")
def test_a_payment_before_its_holdings_count_is_refused_with_the_upgrade_time() -> None:
    key, start = fresh_wallet(tokens=PRO_TOKENS), datetime.now(UTC)
    headers = signed_by(key, value=4000, max_timeout_seconds=900)
    refusal = refused(headers, purchase_for(fields="reviews"), products=REVIEWS, now=start)
    # In whole seconds, and not one too early.
    at = f"{start + AGE + timedelta(microseconds=999_999):%Y-%m-%dT%H:%M:%SZ}"
    assert isinstance(refusal, TierRequired)
    assert refusal.message == (
        "This is sold from the pro tier on, and the wallet that pays is free. Nothing was charged."
        f" By what it holds it is pro from {at} on, if that stays."
        f" It takes holding 100 USD worth of the token {to_checksum_address(settings.TOKEN_ADDRESS)} on eip155:84532."
    )
    assert {name: refusal.extra[name] for name in ("tier", "tier_required", "pending_tier", "pending_tier_at")} == {
        "tier": "free",
        "tier_required": "pro",
        "pending_tier": "pro",
        "pending_tier_at": at,
    }
    assert (usdc_balance(key.address), Payment.objects.count()) == (Decimal(100), 0)
    buy(headers, purchase_for(fields="reviews"), products=REVIEWS, now=start + AGE)
    assert (usdc_balance(key.address), Payment.objects.get().tier) == (Decimal("99.996"), "pro")


@pytest.mark.django_db(transaction=True)
@pytest.mark.usefixtures("ledger_matches_chain")
def test_money_sent_before_its_holdings_count_is_refund_due_and_buys_later(settings: Settings) -> None:
    key, start = fresh_wallet(tokens=PRO_TOKENS), datetime.now(UTC)
    headers = {"X-Payment": transfer_usdc(key, settings.PAY_TO, Decimal("0.004"))}
    caller = proven(key, FREE)
    refusal = refused(headers, purchase_for(fields="reviews"), products=REVIEWS, caller=caller, now=start)
    assert isinstance(refusal, TierRequired)
    assert refusal.extra["pending_tier"] == "pro"
    assert Payment.objects.get().state == Payment.State.REFUND_DUE
    buy(headers, purchase_for(fields="reviews"), products=REVIEWS, caller=caller, now=start + AGE)
    assert (Payment.objects.get().state, Payment.objects.get().tier) == (Payment.State.SETTLED, "pro")


# Readings at once
@pytest.mark.exhaustive
@pytest.mark.django_db(transaction=True)
def test_a_reading_waits_for_another_of_the_same_wallet_and_then_counts_it() -> None:
    address, start, written, may_end = random_address(), datetime.now(UTC), Event(), Event()
    seen(address, PREMIUM, start - minutes(60))

    def sold() -> None:
        with transaction.atomic():
            seen(address, FREE, start)
            written.set()
            may_end.wait(5)
        connection.close()

    def bought() -> None:
        seen(address, PREMIUM, start + minutes(1))
        connection.close()

    first, second = Thread(target=sold), Thread(target=bought)
    first.start()
    written.wait(5)
    second.start()
    second.join(0.3)
    assert second.is_alive()
    may_end.set()
    first.join()
    second.join()
    row = Wallet.objects.get()
    assert (row.tier, row.pending_tier, row.pending_tier_at) == ("free", "premium", start + minutes(11))
    assert HoldingSnapshot.objects.count() == 3


def test_a_reading_that_comes_late_is_remembered_and_takes_nothing_from_a_younger_one() -> None:
    address, start = random_address(), datetime.now(UTC)
    seen(address, PREMIUM, start - minutes(60))
    seen(address, PREMIUM, start)
    seen(address, FREE, start - minutes(1))
    row = Wallet.objects.get()
    assert (row.tier, row.pending_tier, row.read_at, row.holdings_usd) == ("free", "premium", start, Decimal(1000))


def test_two_readings_of_one_moment_are_one() -> None:
    address, start = random_address(), datetime.now(UTC)
    for _ in range(2):
        seen(address, PRO, start)
    assert HoldingSnapshot.objects.count() == 1


def test_without_an_age_a_reading_counts_at_once(settings: Settings) -> None:
    settings.TIER_UPGRADE_AGE_S = 0
    address, start = random_address(), datetime.now(UTC)
    for tier in (PREMIUM, FREE, PRO):
        start += minutes(1)
        seen(address, tier, start)
        assert (Wallet.objects.get().tier, Wallet.objects.get().pending_tier_at) == (tier.name, None)


# Any readings
Reading = tuple[timedelta, Tier]
READINGS = st.lists(
    st.tuples(
        st.integers(0, 120).map(lambda quarters: quarters * minutes(0.25)), st.sampled_from(list(TIERS.values()))
    ),
    min_size=1,
    max_size=12,
    unique_by=lambda reading: reading[0],
)
AGES = st.sampled_from([ZERO, minutes(1), AGE])


def held(readings: Sequence[Reading], *, at: timedelta, age: timedelta) -> Tier:
    """The rule in other words: the highest tier that some reading of that age and all after it have shown."""
    lasting = [FREE]
    for since, _ in readings:
        if since <= at - age:
            lasting.append(min(tier for moment, tier in readings if since <= moment <= at))
    return max(lasting)


def comes_next(readings: Sequence[Reading], *, age: timedelta) -> tuple[timedelta, Tier] | None:
    """The first moment at which the tier is higher if what was read last is read then too."""
    last, tier = max(readings)
    now = held(readings, at=last, age=age)
    for at in sorted(since + age for since, _ in readings):
        then = held([*readings, (at, tier)], at=at, age=age)
        if at > last and then > now:
            return at, then
    return None


@pytest.mark.exhaustive
@given(READINGS, AGES)
@hypothesis(max_examples=40, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_after_any_readings_a_tier_is_what_has_lasted(
    settings: Settings, readings: list[Reading], age: timedelta
) -> None:
    settings.TIER_UPGRADE_AGE_S = int(age.total_seconds())
    address, start = random_address(), datetime(2026, 11, 1, tzinfo=UTC)
    for count, (at, tier) in enumerate(readings, start=1):
        # In any order: threads may be slow.
        seen(address, tier, start + at)
        known = readings[:count]
        row = Wallet.objects.get(pk=address)
        last, _ = max(known)
        assert (row.tier, row.read_at) == (held(known, at=last, age=age).name, start + last)
        expected = comes_next(known, age=age)
        found = (row.pending_tier_at - start, TIERS[row.pending_tier]) if row.pending_tier_at else None
        assert found == expected


# What is kept
def test_a_wallet_that_was_quiet_for_long_keeps_its_tier_and_nothing_else_of_its_readings() -> None:
    address, start = random_address(), datetime.now(UTC)
    for day in (40, 35, 30):
        seen(address, PREMIUM, start - timedelta(days=day))
    retention.purge_expired(now=start)
    assert HoldingSnapshot.objects.get().read_at == start - timedelta(days=30)
    seen(address, PREMIUM, start)
    assert Wallet.objects.get().tier == "premium"


def test_snapshots_of_a_week_are_retained() -> None:
    address, start = random_address(), datetime.now(UTC)
    for ago in (timedelta(days=8), timedelta(days=7, seconds=1), timedelta(days=7), timedelta(days=1), minutes(5)):
        seen(address, PRO, start - ago)
    retention.purge_expired(now=start)
    assert {start - each for each in HoldingSnapshot.objects.values_list("read_at", flat=True)} == {
        timedelta(days=7),
        timedelta(days=1),
        minutes(5),
    }


def test_a_reading_stays_while_no_younger_one_is_old_enough() -> None:
    address, start = random_address(), datetime.now(UTC)
    seen(address, PRO, start - timedelta(days=30))
    seen(address, PRO, start - minutes(5))
    retention.purge_expired(now=start)
    assert HoldingSnapshot.objects.count() == 2
