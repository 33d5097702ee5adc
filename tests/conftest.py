"""Starts the servers before Django reads its settings, and brings in the actors and the running product."""

import os

import django
import pytest

from tests import embedded


@pytest.hookimpl(tryfirst=True)
def pytest_configure(config: pytest.Config) -> None:
    """Django's settings are read here, after the servers' addresses are known and before any model is imported."""
    if config.option.help:
        return
    embedded.start(config)
    os.environ["DJANGO_SETTINGS_MODULE"] = "config.settings"
    django.setup()
    for plugin in ("tests.wallets", "tests.actors", "tests.running"):
        config.pluginmanager.import_plugin(plugin)
