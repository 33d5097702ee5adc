"""Paths of the orders' pages, below /dashboard."""

from django.urls import path

from orders.dashboard import board, menu, menu_import, menu_items, orders, overview_tile, phone_order

urlpatterns = [
    path("<slug:venue>/board", board.show, name="order-board"),
    path("<slug:venue>/board/columns", board.poll, name="board-columns"),
    path("<slug:venue>/board/moves", board.move, name="board-move"),
    path("<slug:venue>/orders", orders.index, name="orders"),
    path("<slug:venue>/orders.csv", orders.download, name="orders-download"),
    path("<slug:venue>/orders/today", overview_tile.tiles, name="orders-today"),
    path("<slug:venue>/orders/new", phone_order.new_order, name="phone-order"),
    path("<slug:venue>/orders/<slug:order>", orders.detail, name="order"),
    path("<slug:venue>/orders/<slug:order>/move", orders.move, name="order-move"),
    path("<slug:venue>/orders/<slug:order>/cancel", orders.cancel, name="order-cancel"),
    path("<slug:venue>/orders/<slug:order>/address", orders.readdress, name="order-address"),
    path("<slug:venue>/orders/<slug:order>/ticket", orders.ticket, name="order-ticket"),
    path("<slug:venue>/menu", menu.show, name="menu"),
    path("<slug:venue>/menu/preview", menu.preview, name="menu-preview"),
    path("<slug:venue>/menu/publish", menu.publish, name="menu-publish"),
    path("<slug:venue>/menu/items/new", menu_items.item, name="menu-item-new"),
    path("<slug:venue>/menu/items/<uuid:key>", menu_items.item, name="menu-item"),
    path("<slug:venue>/menu/items/<uuid:key>/remove", menu_items.remove_item, name="menu-item-remove"),
    path("<slug:venue>/menu/items/<uuid:key>/sold-out", menu.sell_out, name="menu-item-sold-out"),
    path("<slug:venue>/menu/items/<uuid:key>/switch", menu.switch, name="menu-item-switch"),
    path("<slug:venue>/menu/items/<uuid:key>/move", menu.move, {"kind": "item"}, name="menu-item-move"),
    path("<slug:venue>/menu/categories/new", menu_items.category, name="menu-category-new"),
    path("<slug:venue>/menu/categories/<uuid:key>", menu_items.category, name="menu-category"),
    path("<slug:venue>/menu/categories/<uuid:key>/remove", menu_items.remove_category, name="menu-category-remove"),
    path("<slug:venue>/menu/categories/<uuid:key>/move", menu.move, {"kind": "category"}, name="menu-category-move"),
    path("<slug:venue>/menu/upload", menu_import.upload, name="menu-upload"),
    path("<slug:venue>/menu/upload/<uuid:key>", menu_import.preview, name="menu-upload-preview"),
    path("<slug:venue>/menu/menu.csv", menu_import.download, name="menu-csv"),
    path("<slug:venue>/menu/template.csv", menu_import.template, name="menu-template"),
]
