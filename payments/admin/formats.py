"""How the admin shows addresses, ids, codes and actors."""

import re
from typing import Any

from django.db.models import QuerySet
from django.http import HttpRequest
from django.utils.html import format_html, format_html_join
from django.utils.safestring import SafeString

from framework.admin.read_only import ReadOnlyAdmin
from payments.models import shorten_address


class AddressSearchAdmin(ReadOnlyAdmin):
    """Rows that are found by addresses and hashes, which are stored in lower case."""

    def get_search_results(
        self, request: HttpRequest, queryset: QuerySet[Any], search_term: str
    ) -> tuple[QuerySet[Any], bool]:
        """Search in lower case."""
        return super().get_search_results(request, queryset, search_term.lower())


def in_short(whole: str) -> SafeString:
    """An address or a hash in short; whole where the pointer rests."""
    return format_html('<span title="{}">{}</span>', whole, shorten_address(whole))


def id_in_short(whole: str) -> SafeString:
    """The end of an id, as those of one time begin alike; whole where the pointer rests."""
    return format_html('<span title="{}">…{}</span>', whole, whole[-6:])


def in_words(code: str) -> str:
    """A code as a table shows it: a narrow column breaks words into lines, and no code."""
    return code.replace("_", " ")


def breakable(text: str) -> SafeString:
    """An actor such as staff:ada@example.com, which a narrow column breaks behind its signs."""
    return format_html_join("", "{}<wbr>", ((part,) for part in re.split(r"(?<=[:@.])", text)))
