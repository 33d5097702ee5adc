"""The servers of a test run: embedded ones, except those that an environment variable names."""

import os
import shutil
import tempfile
from collections.abc import Mapping
from pathlib import Path

import pytest

from config.dev_stack import Stack
from framework.state_directory import StackError


def start(config: pytest.Config) -> None:
    """Start the servers that are not set in a temporary directory, and set their variables in the environment.

    They stop when pytest ends, also by Ctrl-C or by an error in its configuration.
    """
    state_dir = Path(tempfile.mkdtemp(prefix="tablewire-tests-"))
    config.add_cleanup(lambda: shutil.rmtree(state_dir))
    stack = unset_servers(state_dir, os.environ)
    try:
        stack.__enter__()
    except StackError as error:
        raise pytest.UsageError(str(error)) from error
    config.add_cleanup(lambda: stack.__exit__(None, None, None))
    os.environ |= stack_environment(stack, os.environ) | {"TABLEWIRE_STATE_DIR": str(state_dir)}


def unset_servers(state_dir: Path, given: Mapping[str, str]) -> Stack:
    """A stack of the servers that the variables in `given` do not name, not started."""
    return Stack(
        state_dir,
        postgres=not given.get("DATABASE_URL"),
        valkey=not given.get("REDIS_URL"),
        chain=not given.get("RPC_URL"),
        facilitator=not given.get("FACILITATOR_URL"),
        durable=False,
        shared_buffers="128MB",
    )


def stack_environment(stack: Stack, given: Mapping[str, str]) -> dict[str, str]:
    """The variables to add to `given`: the URLs of the servers and a SECRET_KEY."""
    # A changed wallet has its new tier at once.
    variables = {**stack.environment(), "TIER_CACHE_S": "0", "TIER_UPGRADE_AGE_S": "0"}
    return {name: value for name, value in variables.items() if not given.get(name)}
