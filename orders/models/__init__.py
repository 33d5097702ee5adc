"""Orders, checkout sessions, menus, modifiers, ordering settings and menu uploads."""

from orders.models.checkout_sessions import CheckoutSession
from orders.models.menus import Allergen, Diet, DishPhoto, Menu, MenuCategory, MenuItem, MenuUpload
from orders.models.modifiers import ItemModifierGroup, Modifier, ModifierGroup
from orders.models.orders import (
    InvalidTransition,
    Order,
    OrderItem,
    OrderNumber,
    Orders,
    VersionConflict,
    lines_in_order,
)
from orders.models.settings import ChargeRule, Fulfilment, OrderingSettings, OrderSlot
