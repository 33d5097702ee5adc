"""The ids by which callers name dishes, modifier groups and modifiers."""

import re

from django.core.exceptions import ValidationError
from django.utils.translation import gettext as _


def validate_ref(ref: str) -> None:
    """Raise ValidationError for an id that a reader would take for another one."""
    if ref != ref.strip():
        raise ValidationError(_("An id has no white space at its ends."))


def validate_group_ref(ref: str) -> None:
    """Raise ValidationError for an id that cannot be listed with others, between spaces."""
    if re.search(r"\s", ref):
        raise ValidationError(_("The id of a group has no spaces."))
