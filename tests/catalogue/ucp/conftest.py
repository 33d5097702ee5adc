"""Agents whose profiles are served on this machine. Models are imported when Django is set up."""

import json
from collections.abc import Iterator
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from pytest_django import Settings

    from orders.models import Menu
    from tests.catalogue.ucp.agents import Agent


@pytest.fixture(scope="session")
def profiles() -> Iterator[str]:
    """The address of a server with the profiles of two platforms."""
    from tests.catalogue.ucp.agents import profile, serving_profiles

    document = json.dumps(profile()).encode()
    with serving_profiles({"/agent": document, "/other": document}) as (address, _asked):
        yield address


@pytest.fixture
def enabled(settings: "Settings") -> None:
    """The protocol is served, and profiles may be on this machine."""
    settings.UCP_ENABLED = True
    settings.WEBHOOKS_TO_LOOPBACK = True


@pytest.fixture
def agent(profiles: str, enabled: None) -> "Agent":
    from tests.catalogue.ucp.agents import Agent

    return Agent(f"{profiles}/agent")


@pytest.fixture
def other_agent(profiles: str, enabled: None) -> "Agent":
    from tests.catalogue.ucp.agents import Agent

    return Agent(f"{profiles}/other")


@pytest.fixture
def menu(db: None) -> "Menu":
    from tests.catalogue.ucp.agents import pizzeria

    return pizzeria()
