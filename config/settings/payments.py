"""Payments: the chain, the facilitators that settle on it, the receiver, and the tiers."""

from typing import Any

from config import environment as env
from config.settings.base import STATE_DIR, embedded
from framework.state_directory import RECORD, read_json
from payments.devchain.addresses import PRICE_FEED
from payments.devchain.wallets import derive_demo_wallets

# If you name your own chain, nothing of the embedded one is used.
chain: dict[str, Any] = {} if env.is_set("RPC_URL") else embedded.get("chain") or {}
RPC_URL = env.address("RPC_URL", chain.get("rpc_url") or "http://127.0.0.1:1", example="https://rpc.example.com")
# The private keys of the demo wallets by name, only where RPC_URL is the embedded chain of this state directory.
stack_chain: dict[str, Any] = (read_json(STATE_DIR / RECORD) or {}).get("chain") or {}
DEMO_WALLET_KEYS: dict[str, str] = (
    {wallet.name: wallet.private_key for wallet in derive_demo_wallets(stack_chain["password"])}
    if stack_chain and f"http://127.0.0.1:{stack_chain['port']}" == RPC_URL
    else {}
)
FACILITATOR_URL = env.address(
    "FACILITATOR_URL",
    embedded.get("facilitator_url") or "http://127.0.0.1:1",
    example="https://facilitator.example.com",
)
FACILITATOR_TOKEN = env.token("FACILITATOR_TOKEN")
# Used if the first was certainly not reached.
FACILITATOR_FALLBACK_URL = env.address("FACILITATOR_FALLBACK_URL", example="https://facilitator.example.org")
FACILITATOR_FALLBACK_TOKEN = env.token("FACILITATOR_FALLBACK_TOKEN")
# CAIP-2 (payments/chain/networks.py).
PAYMENT_NETWORK = env.choice(
    "PAYMENT_NETWORK",
    chain.get("network") or ("eip155:8453" if env.is_set("RPC_URL") else "eip155:84532"),
    ("eip155:8453", "eip155:84532"),
)
PAY_TO = env.evm_address("PAY_TO", chain.get("pay_to") or "")
if env.is_set("RPC_URL") and not (PAY_TO and env.is_set("FACILITATOR_URL")):
    raise env.WrongValue("PAY_TO", "set where RPC_URL is, and FACILITATOR_URL too")
TOKEN_ADDRESS = env.evm_address("TOKEN_ADDRESS", chain.get("token") or "")
TOKEN_PRICE_FEED = env.evm_address("TOKEN_PRICE_FEED", PRICE_FEED if chain and embedded.get("wallets") else "")
TOKEN_PRICE_USD = env.amount("TOKEN_PRICE_USD", "0")
PREMIUM_STAKE = env.number("PREMIUM_STAKE", 5_000)
ENTERPRISE_STAKE = env.number("ENTERPRISE_STAKE", 50_000)
TIER_CACHE_S = env.number("TIER_CACHE_S", 600)
# On the development chain a new balance changes the tier at once.
TIER_UPGRADE_AGE_S = env.number("TIER_UPGRADE_AGE_S", 0 if chain and embedded.get("wallets") else 600)
# Nodes are asked for the transfers of a few hours in one call (payments/tiers/holdings.py).
if TIER_UPGRADE_AGE_S > 7200:
    raise env.WrongValue("TIER_UPGRADE_AGE_S", "a whole number from 0 to 7200")
# The blocks that show a settlement before it is served, its own included; 0: the facilitator's word is enough.
PAYMENT_CONFIRMATIONS = env.number("PAYMENT_CONFIRMATIONS", 1)
if PAYMENT_CONFIRMATIONS > 100:
    raise env.WrongValue("PAYMENT_CONFIRMATIONS", "a whole number from 0 to 100")
# Anybody can send a transfer of a millionth: smaller refunds stay out of the queue.
REFUND_MIN_USDC = env.amount("REFUND_MIN_USDC", "0.001")
ANONYMOUS_PROOF_MAX_USDC = env.amount("ANONYMOUS_PROOF_MAX_USDC", "0.10")
# The keys of receipts, the newest first: it signs, and all are published. None: one derived from SECRET_KEY.
RECEIPT_KEYS = env.secp256k1_keys("RECEIPT_KEYS")
# How offers and receipts are signed (payments/x402/offer_receipt.py).
RECEIPT_FORMAT = env.choice("RECEIPT_FORMAT", "eip712", ("eip712", "jws"))
