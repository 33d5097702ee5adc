"""Template filters that write times, days and money in the current language, and the choice of a language."""

from datetime import datetime

from django import template
from django.utils.timesince import timesince

from framework import languages

register = template.Library()

register.filter("clock", languages.format_clock)
# These take moments, too, in the current time zone.
register.filter("day_of_month", languages.format_day_of_month, expects_localtime=True)
register.filter("weekday", languages.format_weekday, expects_localtime=True)
register.filter("day", languages.format_day, expects_localtime=True)
register.filter("long_day", languages.format_long_day, expects_localtime=True)
register.filter("short_date", languages.format_short_date, expects_localtime=True)
register.filter("short_day", languages.format_short_day, expects_localtime=True)
register.simple_tag(languages.list_languages)


@register.filter
def age(moment: datetime) -> str:
    """Write how long ago it was in one unit: `2 hours`."""
    return timesince(moment, depth=1)
