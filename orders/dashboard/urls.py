"""Paths of the orders' pages, below /dashboard."""

from django.urls import path

from orders.dashboard import board, menu, menu_import, menu_items, orders, overview_tile, phone_order

urlpatterns = [
    path("<slug:venue>/board", board.show_board, name="order-board"),
    path("<slug:venue>/board/columns", board.poll_columns, name="board-columns"),
    path("<slug:venue>/board/moves", board.change_status, name="board-move"),
    path("<slug:venue>/orders", orders.list_orders, name="orders"),
    path("<slug:venue>/orders.csv", orders.download, name="orders-download"),
    path("<slug:venue>/orders/today", overview_tile.show_tiles, name="orders-today"),
    path("<slug:venue>/orders/new", phone_order.new_order, name="phone-order"),
    path("<slug:venue>/orders/<slug:order>", orders.show_order, name="order"),
    path("<slug:venue>/orders/<slug:order>/move", orders.change_status, name="order-move"),
    path("<slug:venue>/orders/<slug:order>/cancel", orders.cancel_order, name="order-cancel"),
    path("<slug:venue>/orders/<slug:order>/address", orders.change_address, name="order-address"),
    path("<slug:venue>/orders/<slug:order>/ticket", orders.show_ticket, name="order-ticket"),
    path("<slug:venue>/menu", menu.show_menu, name="menu"),
    path("<slug:venue>/menu/preview", menu.preview_menu, name="menu-preview"),
    path("<slug:venue>/menu/publish", menu.set_published, name="menu-publish"),
    path("<slug:venue>/menu/items/new", menu_items.edit_item, name="menu-item-new"),
    path("<slug:venue>/menu/items/<uuid:key>", menu_items.edit_item, name="menu-item"),
    path("<slug:venue>/menu/items/<uuid:key>/remove", menu_items.delete_item, name="menu-item-remove"),
    path("<slug:venue>/menu/items/<uuid:key>/sold-out", menu.set_sold_out, name="menu-item-sold-out"),
    path("<slug:venue>/menu/items/<uuid:key>/switch", menu.set_available, name="menu-item-switch"),
    path("<slug:venue>/menu/items/<uuid:key>/move", menu.move_row, {"kind": "item"}, name="menu-item-move"),
    path("<slug:venue>/menu/categories/new", menu_items.edit_category, name="menu-category-new"),
    path("<slug:venue>/menu/categories/<uuid:key>", menu_items.edit_category, name="menu-category"),
    path("<slug:venue>/menu/categories/<uuid:key>/remove", menu_items.delete_category, name="menu-category-remove"),
    path(
        "<slug:venue>/menu/categories/<uuid:key>/move", menu.move_row, {"kind": "category"}, name="menu-category-move"
    ),
    path("<slug:venue>/menu/upload", menu_import.upload, name="menu-upload"),
    path("<slug:venue>/menu/upload/<uuid:key>", menu_import.preview, name="menu-upload-preview"),
    path("<slug:venue>/menu/menu.csv", menu_import.download, name="menu-csv"),
    path("<slug:venue>/menu/template.csv", menu_import.template, name="menu-template"),
]
