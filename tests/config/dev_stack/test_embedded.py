"""The servers of a test run: those that no environment variable names."""

from pathlib import Path

import pytest

from tests.support import servers

EXTERNAL = {
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


@pytest.mark.stack
@pytest.mark.parametrize(
    ("given", "expected"),
    [
        ({**EXTERNAL}, set()),
        ({**EXTERNAL, "SECRET_KEY": ""}, {"SECRET_KEY"}),
        ({**EXTERNAL, "DATABASE_URL": ""}, {"DATABASE_URL"}),
        ({**EXTERNAL, "REDIS_URL": "", "BROKER_URL": ""}, {"REDIS_URL", "BROKER_URL"}),
        ({**EXTERNAL, "REDIS_URL": ""}, {"REDIS_URL"}),
        ({**EXTERNAL, "RPC_URL": "", "FACILITATOR_URL": ""}, CHAIN),
        ({**EXTERNAL, "RPC_URL": ""}, CHAIN - {"FACILITATOR_URL"}),
        ({**EXTERNAL, "FACILITATOR_URL": ""}, set()),
        (
            {"REDIS_URL": EXTERNAL["REDIS_URL"]},
            {"DATABASE_URL", "SECRET_KEY", "TIER_CACHE_S", "TIER_UPGRADE_AGE_S", *CHAIN},
        ),
    ],
)
def test_only_servers_without_a_variable_are_started(
    tmp_path: Path, given: dict[str, str], expected: set[str]
) -> None:
    with servers.unset_servers(tmp_path, given) as stack:
        assert {server.name for server in stack.servers} == {name for name, url in SERVERS if url in expected}
        assert set(servers.stack_environment(stack, given)) == expected
