"""The pytest plugin that gives a run its own PostgreSQL and Valkey, before Django reads its settings.

Loaded by `-p tests.embedded`. DATABASE_URL and REDIS_URL, when both are set, name servers of yours instead.
"""

import os
import shutil
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from config.stack import Stack, StackError


@pytest.hookimpl(wrapper=True, tryfirst=True)
def pytest_load_initial_conftests(early_config: pytest.Config) -> Iterator[None]:
    """Start the servers first; they stop when pytest ends, also by Ctrl-C or by an error in its configuration."""
    wishes = early_config.known_args_namespace
    given = "DATABASE_URL" in os.environ and "REDIS_URL" in os.environ
    if not (wishes.help or wishes.version or given):
        start(early_config)
    yield


def start(config: pytest.Config) -> None:
    """Start a stack in a temporary directory and point the environment at it, until `config` is cleaned up."""
    state_dir = Path(tempfile.mkdtemp(prefix="tablewire-tests-"))
    config.add_cleanup(lambda: shutil.rmtree(state_dir))
    stack = Stack(state_dir, durable=False, shared_buffers="128MB")
    try:
        stack.__enter__()
    except StackError as error:
        raise pytest.UsageError(str(error)) from error
    config.add_cleanup(lambda: stack.__exit__(None, None, None))
    assert stack.database_url is not None
    assert stack.redis_url is not None
    os.environ |= {
        "DATABASE_URL": stack.database_url,
        "REDIS_URL": stack.redis_url,
        "BROKER_URL": stack.redis_url,
        "SECRET_KEY": stack.secret_key,
        "TABLEWIRE_STATE_DIR": str(state_dir),
    }
