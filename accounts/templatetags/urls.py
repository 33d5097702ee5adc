"""A filter that lets a URL break where a reader expects it."""

import re

from django import template
from django.utils.html import format_html, format_html_join
from django.utils.safestring import SafeString

register = template.Library()


@register.filter
def breakable(url: str) -> SafeString:
    """Let the URL break after a slash, instead of inside a word. The host, its first part, has a class of its own."""
    host, *parts = re.split(r"(?<=[^/]/)(?!/)|(?<=[&?])", url)
    return format_html(
        '<span class="host">{}</span><wbr>{}', host, format_html_join("", "{}<wbr>", ((p,) for p in parts))
    )
