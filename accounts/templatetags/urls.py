"""A filter that lets a URL break where a reader expects it."""

import re

from django import template
from django.utils.html import format_html_join
from django.utils.safestring import SafeString

register = template.Library()


@register.filter
def breakable(url: str) -> SafeString:
    """Let the URL break after a slash, instead of inside a word."""
    return format_html_join("", "{}<wbr>", ((part,) for part in re.split(r"(?<=[^/]/)(?!/)|(?<=[&?])", url)))
