"""What a paid request may not cost us: no library of wallets in the web process, no query before the claim."""

from collections.abc import Mapping
from pathlib import Path

import httpx
import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext
from django.utils.datastructures import CaseInsensitiveMapping

from payments.devchain.wallets import Wallet
from payments.x402.proofs import Authorization, parse_proof
from tests.payments.buyer import signed_by
from tests.security.live_product import CONTEXT, opened, stocked

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.usefixtures("ledger_matches_chain")]


@pytest.mark.stack
def test_a_process_that_has_sold_something_has_not_imported_the_library_of_wallets(
    wallets: Mapping[str, Wallet], tmp_path: Path
) -> None:
    stocked()
    with opened(tmp_path, processes=1, application="tests.security.imports:application") as shop:
        assert shop.ask(CONTEXT, signed_by(wallets["free"])).status_code == 200
        imported = httpx.get(f"{shop.webs[0]}/modules").json()
    assert "django" in imported
    assert {"web3", "eth_account", "eth_abi"} & {*imported} == set()


def test_the_local_check_of_a_payment_asks_neither_the_database_nor_anybody_else(
    wallets: Mapping[str, Wallet],
) -> None:
    headers = signed_by(wallets["free"])
    with CaptureQueriesContext(connection) as queries:
        proof = parse_proof(CaseInsensitiveMapping(headers))
        assert isinstance(proof, Authorization)
        assert proof.is_signed()
    assert len(queries) == 0
