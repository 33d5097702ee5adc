"""Starts the servers before Django reads its settings, and brings in the actors and the running product."""

import contextlib
import gc
import importlib
import os
import sys

import django
import pytest

from config.dev_stack.processes import bytecode_variables
from tests.support import servers


@pytest.hookimpl(tryfirst=True)
def pytest_configure(config: pytest.Config) -> None:
    """Django's settings are read here, after the servers' addresses are known and before any model is imported."""
    # Until the tests are collected hardly anything is garbage, and to look for it takes a third of the time.
    gc.disable()
    # Set before the workers start, which then share the bytecode with each other and with the processes of the tests.
    os.environ |= bytecode_variables(config.rootpath / ".pytest_cache")
    if prefix := os.environ.get("PYTHONPYCACHEPREFIX"):
        sys.pycache_prefix, sys.dont_write_bytecode = prefix, False
    hands_out = config.option.numprocesses and not hasattr(config, "workerinput")
    if config.option.help or hands_out:
        # With -n each worker has servers and settings of its own, and who gives them their work needs none.
        return
    servers.start(config)
    # The wallets' library lets Python recurse until the stack overflows; no process of ours imports it, so what runs
    # here is judged by the limit that runs there. It sets it once, when it is first imported.
    limit = sys.getrecursionlimit()
    importlib.import_module("eth_account")
    sys.setrecursionlimit(limit)
    os.environ["DJANGO_SETTINGS_MODULE"] = "config.settings"
    django.setup()
    # Registers the models of the admin, which some tests list.
    importlib.import_module("config.urls")
    for plugin in (
        "tests.support.wallets",
        "tests.support.stack_marker",
        "tests.support.exhaustive",
        # Before those that it is imported by: pytest rewrites the assertions of what it imports itself.
        "tests.support.live_stack",
        "tests.support.fixtures",
        "tests.support.db_cleanup",
        "tests.support.reset_state",
        "tests.support.speedups",
        "tests.support.browser",
        "tests.catalogue.stored_reference_data",
        "tests.security.live_product",
    ):
        config.pluginmanager.import_plugin(plugin)


@pytest.hookimpl(tryfirst=True)
def pytest_collection(session: pytest.Session) -> None:
    """Let every second worker import the tests from the last to the first, before all collect them in order.

    In a clean clone each module is compiled and its assertions are rewritten, which takes half a minute. So each
    worker does half of it and reads what the other has written.
    """
    worker = getattr(session.config, "workerinput", {}).get("workerid", "gw0")
    if int(worker.removeprefix("gw")) % 2 == 0:
        return
    root = session.config.rootpath
    for path in sorted((root / "tests").rglob("test_*.py"), reverse=True):
        # A module that skips itself or lacks a package is reported when it is collected.
        with contextlib.suppress(Exception, pytest.skip.Exception):
            importlib.import_module(".".join(path.relative_to(root).with_suffix("").parts))


def pytest_collection_finish() -> None:
    """What is loaded by now stays: to look for garbage in it again and again was an eighth of a run's time."""
    gc.enable()
    gc.freeze()
    gc.set_threshold(50_000, 20, 50)


def pytest_unconfigure() -> None:
    """What is not looked at is not tidied up at the end either, of which some libraries complain."""
    gc.unfreeze()
