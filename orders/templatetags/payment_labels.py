"""A template filter that writes payment labels."""

from django import template

from orders.payment_labels import format_payment_label

register = template.Library()

register.filter("payment_label", format_payment_label)
