"""The rules of modifier groups, for all who write them: what can be chosen, and which group asks for which."""

from collections.abc import Sequence

from orders.models import Modifier, ModifierGroup


def find_number_problem(least: int, most: int, *, choices: int, defaults: int) -> tuple[str, str] | None:
    """Return the field and what is wrong with the numbers of a group, None if they fit."""
    if least > most:
        return "max_choices", f"At least {least} and at most {most} cannot be chosen."
    if least > choices:
        return "modifiers", f"{least} must be chosen, and there are {choices}."
    if defaults > most or 0 < defaults < least:
        return "modifiers", f"{defaults} are chosen by default; none or {least} to {most} can be."
    return None


def find_error(group: ModifierGroup, modifiers: Sequence[Modifier]) -> str | None:
    """Return what is wrong with a group of these modifiers. Two queries if one of them asks for a group."""
    nested = {modifier.nested_group_id for modifier in modifiers} - {None}
    if nested and Modifier.objects.filter(group__in=nested, nested_group__isnull=False).exists():
        return "A modifier cannot ask for a group whose modifiers ask for another."
    if nested and Modifier.objects.filter(nested_group=group.pk).exists():
        return "A modifier asks for this group, so its modifiers cannot ask for another."
    defaults = sum(modifier.is_default for modifier in modifiers)
    problem = find_number_problem(group.min_choices, group.max_choices, choices=len(modifiers), defaults=defaults)
    return problem[1] if problem else None
