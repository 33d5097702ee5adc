"""A client of the run's development chain."""

import pytest
from django.conf import settings
from web3 import Web3
from web3.contract import Contract


@pytest.fixture
def node() -> Web3:
    """The node of this test run."""
    # This file may be read before the plugins are.
    from tests.support.wallets import chain_secret

    chain_secret()
    return Web3(Web3.HTTPProvider(settings.RPC_URL))


@pytest.fixture
def usdc(node: Web3) -> Contract:
    """Its USDC."""
    from tests.payments.devchain import external_tools

    return external_tools.usdc(node)
