"""The transition tables of the checkout, and the drawings and tables of docs/checkout.md that show them."""

import re
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import Any

import pytest

from payments.checkout import signed_authorization, state_machine, transaction_proof
from payments.ledger.transitions import ALLOWED

DOCS = Path(__file__).parents[3] / "docs"


def names(table: Mapping[Callable[..., Any], Iterable[Callable[..., Any]]]) -> dict[str, set[str]]:
    """The table by the names of its states."""
    return {state.__name__: {each.__name__ for each in following} for state, following in table.items()}


SIGNED, TRANSACTION = names(signed_authorization.TRANSITIONS), names(transaction_proof.TRANSITIONS)
PAYMENT = {str(state or "none"): {str(each or "none") for each in following} for state, following in ALLOWED.items()}


def pairs(table: Mapping[str, Iterable[str]]) -> set[tuple[str, str]]:
    """The transitions of a table as pairs."""
    return {(state, following) for state, all_following in table.items() for following in all_following}


@pytest.mark.parametrize(
    ("drawing", "table"),
    [("checkout-authorization", SIGNED), ("checkout-transaction", TRANSACTION), ("payment-states", PAYMENT)],
)
def test_the_drawing_shows_the_transitions_of_the_table(drawing: str, table: Mapping[str, Iterable[str]]) -> None:
    drawn = re.findall(r'data-transition="(\w+) (\w+)"', (DOCS / f"{drawing}.svg").read_text())
    assert len(drawn) == len(set(drawn))
    assert set(drawn) == pairs(table)


@pytest.mark.parametrize(
    ("heading", "column", "table"),
    [
        ("A signed authorization", 2, SIGNED),
        ("A transaction hash", 2, TRANSACTION),
        ("The states of a payment", 1, PAYMENT),
    ],
)
def test_the_page_lists_the_transitions_of_the_table(
    heading: str, column: int, table: Mapping[str, Iterable[str]]
) -> None:
    section = (DOCS / "checkout.md").read_text().partition(f"## {heading}\n")[2].partition("\n## ")[0]
    rows = [line.split("|")[1:-1] for line in section.splitlines() if line.startswith("| `")]
    listed = {
        (re.findall(r"`(\w+)`", row[0])[0], following)
        for row in rows
        for part in row[column].split("; ")
        for following in re.findall(r"`(\w+)`", part.partition(":")[0])
    }
    assert listed == pairs(table)


@pytest.mark.parametrize("table", [SIGNED, TRANSACTION])
def test_each_state_is_reached(table: Mapping[str, Iterable[str]]) -> None:
    start = next(iter(table))
    assert {following for _, following in pairs(table)} | {start} == set(table)


def test_a_transition_that_the_table_does_not_list_is_an_error() -> None:
    def find(_: None) -> Any:
        return decline

    def decline(_: None) -> Any:
        return find

    with pytest.raises(state_machine.TransitionNotAllowed, match="find to decline"):
        state_machine.run({find: set(), decline: {find}}, None)
