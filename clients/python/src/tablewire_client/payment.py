"""Payment by x402: the wallet signs the price that a 402 names. Needs `pip install "tablewire-client[x402]"`."""

from decimal import Decimal

import httpx

from tablewire_client.errors import PaymentNotMade

# USDC has six decimals.
ATOMS_PER_USDC = 10**6


class Payer:
    """Pays for single answers, up to a limit for each, from a wallet.

    `private_key` is the wallet's, in hexadecimal; it signs authorizations (EIP-3009) and is not sent. The wallet needs
    USDC on the server's network, and no gas.
    """

    def __init__(self, private_key: str, *, max_price_usdc: Decimal) -> None:
        from eth_account import Account
        from x402 import max_amount, x402ClientSync
        from x402.http import x402HTTPClientSync
        from x402.mechanisms.evm.exact import register_exact_evm_client

        account = Account.from_key(private_key)
        self.address: str = account.address
        self.max_price_usdc = max_price_usdc
        policies = [max_amount(int(max_price_usdc * ATOMS_PER_USDC))]
        self._client = register_exact_evm_client(x402ClientSync(), account, policies=policies)
        self._http = x402HTTPClientSync(self._client)

    def __repr__(self) -> str:
        return f"Payer({self.address})"

    def headers(self, response: httpx.Response) -> dict[str, str]:
        """The headers that pay what a 402 asks for. Raises PaymentNotMade."""
        from x402.schemas.errors import PaymentError

        try:
            required = self._http.get_payment_required_response(response.headers.get, response.json())
            payment = self._client.create_payment_payload(required)
        except (PaymentError, ValueError) as error:
            raise PaymentNotMade(f"This payer pays up to {self.max_price_usdc} USDC a call. {error}") from error
        return self._http.encode_payment_signature_header(payment)
