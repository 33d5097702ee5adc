"""Suppliers: a source of its own for each company whose files are imported."""

import re

from django.core.exceptions import ValidationError

from catalogue import reference_data
from catalogue.models import Source

_KEY = re.compile(r"[A-Za-z0-9]+([_-][A-Za-z0-9]+)*")
MAX_KEY_LENGTH = 40


class InvalidSupplier(Exception):
    """The supplier cannot be used; the message is for the user."""


def find_or_create_supplier(
    key: str, *, name: str | None = None, terms: str | None = None, attribution: str | None = None
) -> Source:
    """Return the source of a supplier; create it with this licence (`terms`). Raises InvalidSupplier.

    An existing source keeps its values: staff edit them.
    """
    if not _KEY.fullmatch(key) or len(key) > MAX_KEY_LENGTH:
        raise InvalidSupplier(f"`{key}` is no key of a supplier: 1 to 40 letters and digits, joined by - or _.")
    if key in {row["key"] for row in reference_data.read_csv("sources")}:
        raise InvalidSupplier(f"`{key}` is a source of the product itself. Name the supplier of the files, or none.")
    source = Source.objects.filter(key=key).first()
    if source is None:
        if not terms or not attribution:
            raise InvalidSupplier(
                f"There is no source `{key}`. State its licence and attribution to add it:"
                " --license SPDX --attribution TEXT, and --supplier-name NAME if it is not the attribution."
            )
        source = Source(key=key, name=name or attribution[:120], license=terms, attribution=attribution)
        try:
            source.clean_fields()
        except ValidationError as error:
            raise InvalidSupplier(" ".join(error.messages)) from error
        # Another import may have added it at the same time.
        Source.objects.bulk_create([source], ignore_conflicts=True)
    stated = {"name": name, "license": terms, "attribution": attribution}
    differing = [column for column, value in stated.items() if value and value != getattr(source, column)]
    if differing:
        raise InvalidSupplier(
            f"The source `{key}` has another {', '.join(differing)}. Change it in the admin, or leave the option out."
        )
    return source
