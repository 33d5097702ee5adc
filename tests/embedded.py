"""The servers of a test run: its own PostgreSQL and Valkey, unless DATABASE_URL and REDIS_URL name others."""

import os
import shutil
import tempfile
from pathlib import Path

import pytest

from config.stack import Stack, StackError


def start(config: pytest.Config) -> None:
    """Start a stack in a temporary directory and point the environment at it, until `config` is cleaned up.

    It stops when pytest ends, also by Ctrl-C or by an error in its configuration.
    """
    if "DATABASE_URL" in os.environ and "REDIS_URL" in os.environ:
        return
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
