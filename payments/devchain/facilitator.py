"""The facilitator of the development chain: the production one, with a key of that chain."""

import os
from pathlib import Path

from payments.chain.networks import NETWORKS
from payments.devchain import wallets
from payments.devchain.addresses import NETWORK
from payments.facilitator_server.policy import Policy
from payments.facilitator_server.server import Facilitator

# Far more than anything costs there.
MAX_GAS_PRICE = 10**9
MAX_GAS = 1_000_000


def application() -> Facilitator:
    """Return the facilitator of the chain that the environment names (config/dev_stack)."""
    network = NETWORKS[NETWORK]
    return Facilitator(
        Policy(
            network=network,
            rpc_url=os.environ["RPC_URL"],
            private_key=wallets.derive_wallet(os.environ["DEVCHAIN_SECRET"], wallets.FACILITATOR).private_key,
            tokens=frozenset(),
            pay_to=None,
            assets=frozenset({network.asset}),
            max_gas_price=MAX_GAS_PRICE,
            max_gas=MAX_GAS,
            journal=Path(os.environ["DEVCHAIN_FACILITATOR_JOURNAL"]),
        )
    )
