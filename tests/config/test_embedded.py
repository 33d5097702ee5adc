"""The servers of a test run: those that nobody has named."""

from pathlib import Path

import pytest

from tests import embedded

OWN = {
    "DATABASE_URL": "postgresql://me@db/tables",
    "REDIS_URL": "redis://cache",
    "BROKER_URL": "amqp://broker",
    "SECRET_KEY": "s",
}


@pytest.mark.parametrize(
    ("given", "made"),
    [
        ({**OWN}, set()),
        ({**OWN, "SECRET_KEY": ""}, {"SECRET_KEY"}),
        ({"DATABASE_URL": OWN["DATABASE_URL"]}, {"REDIS_URL", "BROKER_URL", "SECRET_KEY"}),
        ({"DATABASE_URL": OWN["DATABASE_URL"], "BROKER_URL": OWN["BROKER_URL"]}, {"REDIS_URL", "SECRET_KEY"}),
        ({"REDIS_URL": OWN["REDIS_URL"]}, {"DATABASE_URL", "SECRET_KEY"}),
    ],
)
def test_only_what_is_not_named_is_started(tmp_path: Path, given: dict[str, str], made: set[str]) -> None:
    with embedded.missing(tmp_path, given) as stack:
        assert {name for name, pid in stack.pids.items() if pid} == {
            name for name, url in (("postgres", "DATABASE_URL"), ("valkey", "REDIS_URL")) if url in made
        }
        assert set(embedded.addresses(stack, given)) == made
