"""Template filters that write times, days and money in the current language, and the choice of a language."""

from django import template

from framework import languages

register = template.Library()

register.filter("clock", languages.format_clock)
register.filter("day_of_month", languages.format_day_of_month)
register.filter("weekday", languages.format_weekday)
register.simple_tag(languages.list_languages)
