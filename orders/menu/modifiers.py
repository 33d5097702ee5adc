"""Resolves the modifiers that an order chooses for its dishes."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from decimal import Decimal
from difflib import get_close_matches
from typing import Any
from uuid import UUID

from framework.db import prepared_statements
from framework.db.sql_files import read_sql
from framework.errors import Problem

# Each costs up to a tenth of a second where a dish has many modifiers.
MAX_HINTS = 3
SELECT_GROUPS = read_sql("orders", "modifier_groups")


@dataclass(frozen=True, slots=True)
class Choice:
    """A modifier that can be chosen; `item_ref` is a dish of which it takes a portion, `nested_group` its question."""

    ref: str
    name: str
    price: Decimal
    is_default: bool
    is_available: bool
    nested_group: UUID | None
    item_ref: str | None


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
    item_ref: str | None = None
    modifiers: tuple["ChosenModifier", ...] = ()


Groups = Mapping[UUID, Group]


def flatten(modifiers: Iterable[ChosenModifier]) -> Iterator[ChosenModifier]:
    """Yield the modifiers of a line, each before its own ones."""
    for modifier in modifiers:
        yield modifier
        yield from modifier.modifiers


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


def nest(groups: Groups, item: str, refs: Sequence[str]) -> list[dict[str, Any]]:
    """Return modifiers that a flat list of ids chooses, as an order takes them: `[{id, modifiers: [{id}]}]`.

    An id that no group of the dish has belongs to the first chosen modifier that asks for it and does not have it.
    An id that belongs nowhere stays on top, where `Resolver` says what is wrong with it.
    """
    own = {
        ref: choice for group in groups.values() if item in group.positions for ref, choice in group.choices.items()
    }
    chosen: list[dict[str, Any]] = [{"id": ref, "modifiers": []} for ref in refs if ref in own]
    for ref in (ref for ref in refs if ref not in own):
        for each in chosen:
            choice = own.get(each["id"])
            nested = groups.get(choice.nested_group) if choice and choice.nested_group else None
            if nested and ref in nested.choices and {"id": ref} not in each["modifiers"]:
                each["modifiers"].append({"id": ref})
                break
        else:
            chosen.append({"id": ref, "modifiers": []})
    return chosen


def accept_any(asked: Sequence[Mapping[str, Any]]) -> tuple[ChosenModifier, ...]:
    """Return the modifiers of a line of a venue without a menu, which takes any."""
    return tuple(ChosenModifier(each["id"], modifiers=accept_any(each.get("modifiers", ()))) for each in asked)


@dataclass(frozen=True, slots=True)
class Resolver:
    """Resolves the modifiers of an order's lines, and collects their problems."""

    groups: Groups
    problems: list[Problem] = field(default_factory=list)

    def resolve_line(self, item: str, asked: Sequence[Mapping[str, Any]], *, param: str) -> tuple[ChosenModifier, ...]:
        """Return the modifiers of a dish in the order of the menu."""
        groups = [group for group in self.groups.values() if item in group.positions]
        groups.sort(key=lambda group: (group.positions[item], group.ref))
        return self._resolve(groups, asked, owner=item, param=param)

    def _resolve(
        self,
        groups: Sequence[Group],
        asked: Sequence[Mapping[str, Any]],
        *,
        owner: str,
        param: str,
        is_nested: bool = False,
    ) -> tuple[ChosenModifier, ...]:
        """Return the modifiers of a dish or of a modifier; of a required group without a choice, the defaults."""
        group_of = {ref: group for group in groups for ref in group.choices}
        chosen: dict[str, tuple[Mapping[str, Any], str]] = {}
        invalid: set[str] = set()
        for index, each in enumerate(asked):
            ref, path = each["id"], f"{param}[{index}]"
            group = group_of.get(ref)
            if group is not None and ref not in chosen and group.choices[ref].is_available:
                chosen[ref] = (each, path)
                continue
            if group is not None:
                invalid.add(group.ref)
            message = self._describe(ref, owner, list(group_of), is_twice=ref in chosen)
            self.problems.append(Problem(f"{path}.id", message))
        result = []
        for group in groups:
            refs = [ref for ref in group.choices if ref in chosen]
            if not refs and group.min_choices:
                refs = [ref for ref, choice in group.choices.items() if choice.is_default and choice.is_available]
            if group.ref not in invalid and (problem := group.find_problem(len(refs), param)):
                self.problems.append(problem)
            for ref in refs:
                each, path = chosen.get(ref, ({}, param))
                choice = group.choices[ref]
                # The modifiers of a modifier ask no question.
                nested = None if is_nested or not choice.nested_group else self.groups.get(choice.nested_group)
                inner = self._resolve(
                    [nested] if nested else [],
                    each.get("modifiers", ()),
                    owner=ref,
                    param=f"{path}.modifiers",
                    is_nested=True,
                )
                result.append(ChosenModifier(ref, choice.name, choice.price, choice.item_ref, inner))
        return tuple(result)

    def _describe(self, ref: str, owner: str, known: Sequence[str], *, is_twice: bool) -> str:
        if is_twice:
            return f"`{ref}` is chosen twice."
        if ref in known:
            return f"`{ref}` is not available."
        if not known:
            return f"`{owner}` has no modifiers."
        hints = get_close_matches(ref, known, n=1, cutoff=0.6) if len(self.problems) < MAX_HINTS else ()
        hint = f" Did you mean `{hints[0]}`?" if hints else ""
        return f"There is no `{ref}` among the modifiers of `{owner}`.{hint}"
