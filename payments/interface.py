"""The interface of payments for other apps. import-linter allows catalogue to import this module and the models only.

- caller: `caller_of`, `Caller` and the tiers; DataViewSet authenticates a view of the data API
- price: `load_price_list`, `current_prices`, `is_free_by_plan`
- payment: `parse_proof`, `parse_mcp_proof` or `parse_proof_field`, then `collect_payment`, which returns a Receipt or
  raises the refusal; `check_authorization` before something that cannot be undone
- demo wallets of the embedded chain: `find_demo_wallet`, `sign_payment`
- delivery: PaidResponse or `mark_delivered`; `deliver` in the transaction that makes the goods
- entitlement by an earlier payment: `read_receipt_token`
- refund: `mark_refund_due`, `cancel_refund_due`; `refund_undelivered` of what has bought nothing
"""

from payments.api.payments import PaymentParameters
from payments.chain.evm import to_checksum_address
from payments.chain.networks import payment_network
from payments.checkout import check_authorization, is_free_by_plan
from payments.checkout import collect as collect_payment
from payments.checkout.context import PaymentIdentifierReused, SettlementPending, TierRequired
from payments.checkout.presented import find_presented, is_presented, is_presenter, list_pending
from payments.dashboard.account_summary import build_caller, list_addresses, list_wallets
from payments.identity.caller import (
    Caller,
    anonymous_caller,
    bearer_token,
    caller_name,
    caller_of,
    identify_caller,
    read_signed_payment,
)
from payments.identity.caller_profile import load_profile
from payments.identity.drf_authentication import DataViewSet
from payments.identity.siwx import HEADER as SIGN_IN_HEADER
from payments.ledger.payment_history import get_payers, list_payments, request_refund
from payments.ledger.transitions import (
    CLAIM_TIMEOUT,
    cancel_refund_due,
    deliver,
    erase_refund_requests,
    mark_refund_due,
    mark_undelivered_refund_due,
    refund_undelivered,
)
from payments.ledger.transitions import OPEN as OPEN_STATES
from payments.ledger.transitions import mark_delivered as record_delivery
from payments.pricing.price_list import NotSold, current_prices, fixed_price, load_price_list
from payments.rate_limits import BOOKINGS, PAGES, SITEMAP_FILES, DataApiMiddleware, FixedLimit, person_allowance
from payments.serializers.me import MeRecord
from payments.serializers.payments import NewRefundRequest, PaymentAnswer, PaymentRecord
from payments.tiers.definitions import FREE, PREMIUM, TIERS, Tier
from payments.tiers.ladder import describe_ladder
from payments.tiers.terms import STANDARD, job_queue
from payments.wallets.demo_wallets import DemoWallet, find_demo_wallet, sign_payment
from payments.x402.challenges import (
    CALLER_HEADERS,
    PaymentAlreadyUsed,
    PaymentRequired,
    TransactionNotFound,
    describe_challenge,
)
from payments.x402.proofs import (
    PAYMENT_META,
    Authorization,
    InvalidPayment,
    Proof,
    TransactionProof,
    parse_mcp_proof,
    parse_proof,
    parse_proof_field,
)
from payments.x402.purchase import Purchase
from payments.x402.receipts import PaidResponse, Receipt, mark_delivered, read_receipt_token
