"""The rules of modifier groups, for all who write them: what can be chosen, and which group asks for which."""

from collections.abc import Sequence

from django.utils.translation import gettext as _

from orders.models import Modifier, ModifierGroup


def find_number_problem(least: int, most: int, *, choices: int, defaults: int) -> tuple[str, str] | None:
    """Return the field and what is wrong with the numbers of a group, None if they fit."""
    values = {"least": least, "most": most, "choices": choices, "defaults": defaults}
    if least > most:
        return "max_choices", _("At least %(least)s and at most %(most)s cannot be chosen.") % values
    if least > choices:
        return "modifiers", _("%(least)s must be chosen, and there are %(choices)s.") % values
    if defaults > most or 0 < defaults < least:
        message = _("%(defaults)s are chosen by default; none or %(least)s to %(most)s can be.")
        return "modifiers", message % values
    return None


def find_error(group: ModifierGroup, modifiers: Sequence[Modifier]) -> str | None:
    """Return what is wrong with a group of these modifiers. Two queries if one of them asks for a group."""
    nested = {modifier.nested_group_id for modifier in modifiers} - {None}
    if nested and Modifier.objects.filter(group__in=nested, nested_group__isnull=False).exists():
        return _("A modifier cannot ask for a group whose modifiers ask for another.")
    if nested and Modifier.objects.filter(nested_group=group.pk).exists():
        return _("A modifier asks for this group, so its modifiers cannot ask for another.")
    defaults = sum(modifier.is_default for modifier in modifiers)
    problem = find_number_problem(group.min_choices, group.max_choices, choices=len(modifiers), defaults=defaults)
    return problem[1] if problem else None
