"""Starts the servers before Django reads its settings, and brings in the actors and the running product."""

import gc
import importlib
import os
import sys

import django
import pytest

from tests.support import servers


@pytest.hookimpl(tryfirst=True)
def pytest_configure(config: pytest.Config) -> None:
    """Django's settings are read here, after the servers' addresses are known and before any model is imported."""
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
    for plugin in (
        "tests.support.wallets",
        # Before those that it is imported by: pytest rewrites the assertions of what it imports itself.
        "tests.support.live_stack",
        "tests.support.fixtures",
        "tests.support.db_cleanup",
        "tests.support.reset_caches",
        "tests.support.static_files",
        "tests.support.browser",
        "tests.security.live_product",
    ):
        config.pluginmanager.import_plugin(plugin)


def pytest_collection_finish() -> None:
    """What is loaded by now stays: to look for garbage in it again and again was an eighth of a run's time."""
    gc.collect()
    gc.freeze()
    gc.set_threshold(50_000, 20, 50)


def pytest_unconfigure() -> None:
    """What is not looked at is not tidied up at the end either, of which some libraries complain."""
    gc.unfreeze()
