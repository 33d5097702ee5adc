"""The servers of a test run: those that nobody has named."""

from pathlib import Path

import pytest

from tests.support import servers

OWN = {
    "DATABASE_URL": "postgresql://me@db/tables",
    "REDIS_URL": "redis://cache",
    "BROKER_URL": "amqp://broker",
    "SECRET_KEY": "s",
    "RPC_URL": "http://chain",
    "FACILITATOR_URL": "http://facilitator",
    "TIER_CACHE_S": "60",
    "TIER_UPGRADE_AGE_S": "60",
}
SERVERS = (
    *(("postgres", "DATABASE_URL"), ("valkey", "REDIS_URL")),
    *(("chain", "RPC_URL"), ("facilitator", "FACILITATOR_URL")),
)
CHAIN = {"RPC_URL", "FACILITATOR_URL", "PAYMENT_NETWORK", "PAY_TO", "TOKEN_ADDRESS", "TOKEN_PRICE_FEED"}


@pytest.mark.parametrize(
    ("given", "made"),
    [
        ({**OWN}, set()),
        ({**OWN, "SECRET_KEY": ""}, {"SECRET_KEY"}),
        ({**OWN, "DATABASE_URL": ""}, {"DATABASE_URL"}),
        ({**OWN, "REDIS_URL": "", "BROKER_URL": ""}, {"REDIS_URL", "BROKER_URL"}),
        ({**OWN, "REDIS_URL": ""}, {"REDIS_URL"}),
        ({**OWN, "RPC_URL": "", "FACILITATOR_URL": ""}, CHAIN),
        ({**OWN, "RPC_URL": ""}, CHAIN - {"FACILITATOR_URL"}),
        ({**OWN, "FACILITATOR_URL": ""}, set()),
        (
            {"REDIS_URL": OWN["REDIS_URL"]},
            {"DATABASE_URL", "SECRET_KEY", "TIER_CACHE_S", "TIER_UPGRADE_AGE_S", *CHAIN},
        ),
    ],
)
def test_only_what_is_not_named_is_started(tmp_path: Path, given: dict[str, str], made: set[str]) -> None:
    with servers.missing(tmp_path, given) as stack:
        assert {name for name, pid in stack.pids.items() if pid} == {name for name, url in SERVERS if url in made}
        assert set(servers.addresses(stack, given)) == made
