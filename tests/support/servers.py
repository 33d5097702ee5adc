"""The servers of a test run: its own, each unless its variable in the environment names another."""

import os
import shutil
import tempfile
from collections.abc import Mapping
from pathlib import Path

import pytest

from config.dev_stack import PRICE_FEED, Stack, StackError
from payments.devchain import wallets
from payments.devchain.addresses import NETWORK, UTILITY_TOKEN


def start(config: pytest.Config) -> None:
    """Start what is missing in a temporary directory and point the environment at it, until `config` is cleaned up.

    It stops when pytest ends, also by Ctrl-C or by an error in its configuration.
    """
    state_dir = Path(tempfile.mkdtemp(prefix="tablewire-tests-"))
    config.add_cleanup(lambda: shutil.rmtree(state_dir))
    stack = missing(state_dir, os.environ)
    try:
        stack.__enter__()
    except StackError as error:
        raise pytest.UsageError(str(error)) from error
    config.add_cleanup(lambda: stack.__exit__(None, None, None))
    os.environ |= addresses(stack, os.environ) | {"TABLEWIRE_STATE_DIR": str(state_dir)}


def missing(state_dir: Path, given: Mapping[str, str]) -> Stack:
    """The servers that the variables in `given` do not name, not started yet."""
    return Stack(
        state_dir,
        postgres=not given.get("DATABASE_URL"),
        valkey=not given.get("REDIS_URL"),
        chain=not given.get("RPC_URL"),
        facilitator=not given.get("FACILITATOR_URL"),
        durable=False,
        shared_buffers="128MB",
    )


def addresses(stack: Stack, given: Mapping[str, str]) -> dict[str, str]:
    """What to add to `given`, so that Django finds the servers and signs with a key."""
    made = {
        "DATABASE_URL": stack.database_url,
        "REDIS_URL": stack.redis_url,
        "BROKER_URL": stack.redis_url,
        "SECRET_KEY": stack.secret_key,
        # What a test does to a wallet is to show at once.
        "TIER_CACHE_S": "0",
        "TIER_UPGRADE_AGE_S": "0",
    }
    if stack.chain:
        made |= {
            "RPC_URL": stack.rpc_url,
            "FACILITATOR_URL": stack.facilitator_url,
            "PAYMENT_NETWORK": NETWORK,
            "PAY_TO": wallets.derive(stack.chain.password, wallets.MERCHANT).address,
            "TOKEN_ADDRESS": UTILITY_TOKEN,
            "TOKEN_PRICE_FEED": PRICE_FEED,
        }
    return {name: value for name, value in made.items() if value and not given.get(name)}
