"""Resolves the modifiers that an order chooses for its dishes."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from difflib import get_close_matches
from typing import Any
from uuid import UUID

from framework.db import prepared_statements
from framework.db.sql_files import read_sql
from framework.errors import Problem

SELECT_GROUPS = read_sql("orders", "modifier_groups")


@dataclass(frozen=True, slots=True)
class Choice:
    """A modifier that can be chosen. `item` is the dish of which it takes a portion, `nested_group` its question."""

    ref: str
    name: str
    price: Decimal
    is_default: bool
    is_available: bool
    nested_group: UUID | None
    item: str | None


@dataclass(frozen=True, slots=True)
class Group:
    """A question with its choices, in their order. `positions` are those among the groups of each dish."""

    ref: str
    name: str
    min_choices: int
    max_choices: int
    positions: Mapping[str, int]
    choices: Mapping[str, Choice]

    def find_problem(self, count: int, param: str) -> Problem | None:
        """Return what is wrong with this number of choices."""
        if self.min_choices <= count <= self.max_choices:
            return None
        least, most = self.min_choices, self.max_choices
        number = str(most) if least == most else f"at most {most}" if not least else f"{least} to {most}"
        return Problem(param, f"Choose {number} of `{self.ref}`: {', '.join(self.choices)}.")


@dataclass(frozen=True, slots=True)
class ChosenModifier:
    """A chosen modifier with its own ones. Name and price are None where the venue has no menu."""

    ref: str
    name: str | None = None
    price: Decimal | None = None
    item: str | None = None
    modifiers: tuple["ChosenModifier", ...] = ()

    def flatten(self) -> Iterator["ChosenModifier"]:
        """Yield it and its own modifiers."""
        yield self
        yield from self.modifiers


Groups = Mapping[UUID, Group]


def read_groups(menu: UUID, refs: Sequence[str]) -> Groups:
    """Return the groups that these dishes ask for, and those that their modifiers ask for. One query."""
    rows = prepared_statements.fetch_all(SELECT_GROUPS, {"menu": menu, "refs": list(refs)})
    return {
        pk: Group(ref, name, least, most, positions or {}, {row[0]: _read_choice(row) for row in choices})
        for pk, ref, name, least, most, positions, choices in rows
    }


def _read_choice(row: Sequence[Any]) -> Choice:
    ref, name, price, is_default, is_available, nested_group, item = row
    return Choice(
        ref, name, Decimal(price), is_default, is_available, UUID(nested_group) if nested_group else None, item
    )


def accept_any(asked: Sequence[Mapping[str, Any]]) -> tuple[ChosenModifier, ...]:
    """Return the modifiers of a line of a venue without a menu, which takes any."""
    return tuple(ChosenModifier(each["id"], modifiers=accept_any(each.get("modifiers", ()))) for each in asked)


class Selection:
    """The choices of one line, with all their problems."""

    def __init__(self, groups: Groups) -> None:
        self.groups = groups
        self.problems: list[Problem] = []

    def choose_for_item(
        self, item: str, asked: Sequence[Mapping[str, Any]], *, param: str
    ) -> tuple[ChosenModifier, ...]:
        """Return the modifiers of a dish in the order of the menu."""
        groups = [group for group in self.groups.values() if item in group.positions]
        groups.sort(key=lambda group: (group.positions[item], group.ref))
        return self.choose(groups, asked, owner=item, param=param)

    def choose(
        self, groups: Sequence[Group], asked: Sequence[Mapping[str, Any]], *, owner: str, param: str
    ) -> tuple[ChosenModifier, ...]:
        """Return the modifiers of a dish or of a modifier; of a required group without a choice, the defaults."""
        known = {ref: group for group in groups for ref in group.choices}
        chosen: dict[str, tuple[Mapping[str, Any], str]] = {}
        for index, each in enumerate(asked):
            ref, at = each["id"], f"{param}[{index}]"
            if ref not in known:
                self.problems.append(Problem(f"{at}.id", describe_unknown(ref, owner, list(known))))
            elif ref in chosen:
                self.problems.append(Problem(f"{at}.id", f"`{ref}` is chosen twice."))
            elif not known[ref].choices[ref].is_available:
                self.problems.append(Problem(f"{at}.id", f"`{ref}` is not available."))
            else:
                chosen[ref] = (each, at)
        result = []
        for group in groups:
            refs = [ref for ref in group.choices if ref in chosen]
            if not refs and group.min_choices and not self.problems:
                refs = [ref for ref, choice in group.choices.items() if choice.is_default and choice.is_available]
            if not self.problems and (problem := group.find_problem(len(refs), param)):
                self.problems.append(problem)
            for ref in refs:
                each, at = chosen.get(ref, ({}, param))
                result.append(self.build(group.choices[ref], each.get("modifiers", ()), param=at))
        return tuple(result)

    def build(self, choice: Choice, asked: Sequence[Mapping[str, Any]], *, param: str) -> ChosenModifier:
        nested = self.groups.get(choice.nested_group) if choice.nested_group else None
        inner = self.choose([nested] if nested else [], asked, owner=choice.ref, param=f"{param}.modifiers")
        return ChosenModifier(choice.ref, choice.name, choice.price, choice.item, inner)


def describe_unknown(ref: str, owner: str, known: Sequence[str]) -> str:
    if not known:
        return f"`{owner}` has no modifiers."
    near = get_close_matches(ref, known, n=1, cutoff=0.6)
    return f"There is no `{ref}` among the modifiers of `{owner}`.{f' Did you mean `{near[0]}`?' if near else ''}"
