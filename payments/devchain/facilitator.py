"""The facilitator of the development chain: the production one, for whoever asks on this machine."""

import os

from config.dev_stack.chain import NETWORK
from payments.chain.networks import NETWORKS
from payments.devchain import wallets
from payments.facilitator_server.policy import Policy
from payments.facilitator_server.server import Facilitator

# Far more than anything costs there.
MOST_GAS_PRICE = 10**9
MOST_GAS = 1_000_000


def application() -> Facilitator:
    """The facilitator of the chain that the environment names (config/dev_stack/facilitator.py)."""
    network = NETWORKS[NETWORK]
    return Facilitator(
        Policy(
            network=network,
            rpc_url=os.environ["RPC_URL"],
            private_key=wallets.derive(os.environ["DEVCHAIN_SECRET"], wallets.FACILITATOR).private_key,
            tokens=frozenset(),
            pay_to=None,
            assets=frozenset({network.asset}),
            most_gas_price=MOST_GAS_PRICE,
            most_gas=MOST_GAS,
        )
    )
