"""Paths of the orders' pages, below /dashboard."""

from django.urls import path

from orders.dashboard import (
    board,
    menu,
    menu_import,
    modifier_groups,
    ordering,
    orders,
    overview,
    pause,
    phone_order,
    reports,
)

urlpatterns = [
    path("<slug:venue>/board", board.show_board, name="order-board"),
    path("<slug:venue>/board/columns", board.poll_columns, name="board-columns"),
    path("<slug:venue>/board/moves", board.change_status, name="board-move"),
    path("<slug:venue>/board/tickets", board.claim_ticket, name="board-ticket"),
    path("<slug:venue>/board/settings", board.edit_settings, name="board-settings"),
    path("<slug:venue>/board/pause", pause.pause_ordering, name="pause-ordering"),
    path("<slug:venue>/orders", orders.list_orders, name="orders"),
    path("<slug:venue>/orders.csv", orders.download, name="orders-download"),
    path("<slug:venue>/orders/today", orders.show_tiles, name="orders-today"),
    path("<slug:venue>/orders/new", phone_order.new_order, name="phone-order"),
    path("<slug:venue>/orders/example", phone_order.place_example_order, name="example-order"),
    path("<slug:venue>/orders/<slug:order>", orders.show_order, name="order"),
    path("<slug:venue>/orders/<slug:order>/move", orders.change_status, name="order-move"),
    path("<slug:venue>/orders/<slug:order>/cancel", orders.cancel_order, name="order-cancel"),
    path("<slug:venue>/orders/<slug:order>/address", orders.change_address, name="order-address"),
    path("<slug:venue>/orders/<slug:order>/ticket", orders.show_ticket, name="order-ticket"),
    path("<slug:venue>/reports/week", overview.show_week, name="sales-week"),
    path("<slug:venue>/reports/sales", reports.show_sales, name="sales"),
    path("<slug:venue>/menu", menu.show_menu, name="menu"),
    path("<slug:venue>/menu/preview", menu.preview_menu, name="menu-preview"),
    path("<slug:venue>/menu/publish", menu.set_published, name="menu-publish"),
    path("<slug:venue>/menu/items/<uuid:key>/sold-out", menu.set_sold_out, name="menu-item-sold-out"),
    path("<slug:venue>/menu/items/<uuid:key>/switch", menu.set_available, name="menu-item-switch"),
    path("<slug:venue>/menu/items/<uuid:key>/stock", menu.set_stock, name="menu-item-stock"),
    path("<slug:venue>/menu/groups", modifier_groups.list_groups, name="menu-groups"),
    path("<slug:venue>/menu/groups/new", modifier_groups.edit_group, name="menu-group-new"),
    path("<slug:venue>/menu/groups/<uuid:key>", modifier_groups.edit_group, name="menu-group"),
    path("<slug:venue>/menu/groups/<uuid:key>/remove", modifier_groups.delete_group, name="menu-group-remove"),
    path("<slug:venue>/menu/upload", menu_import.upload, name="menu-upload"),
    path("<slug:venue>/menu/upload/<uuid:key>", menu_import.preview, name="menu-upload-preview"),
    path("<slug:venue>/menu/menu.csv", menu_import.download, name="menu-csv"),
    path("<slug:venue>/menu/template.csv", menu_import.template, name="menu-template"),
    path("<slug:venue>/settings/ordering", ordering.edit, name="setup-ordering"),
    path("<slug:venue>/settings/ordering/qr-codes", ordering.show_qr_codes, name="ordering-qr-codes"),
    path("<slug:venue>/settings/charges/new", ordering.edit_charge, name="setup-new-charge"),
    path("<slug:venue>/settings/charges/<uuid:key>", ordering.edit_charge, name="setup-edit-charge"),
    path("<slug:venue>/settings/charges/<uuid:key>/remove", ordering.remove_charge, name="setup-remove-charge"),
]
for kind, folder in (("item", "items"), ("category", "categories")):
    rows, row = f"<slug:venue>/menu/{folder}", f"<slug:venue>/menu/{folder}/<uuid:key>"
    urlpatterns += [
        path(f"{rows}/new", menu.edit, {"kind": kind}, name=f"menu-{kind}-new"),
        path(row, menu.edit, {"kind": kind}, name=f"menu-{kind}"),
        path(f"{row}/remove", menu.delete, {"kind": kind}, name=f"menu-{kind}-remove"),
        path(f"{row}/move", menu.move_row, {"kind": kind}, name=f"menu-{kind}-move"),
    ]
for by in ("day", "hour", "weekday", "dish"):
    file = f"<slug:venue>/reports/sales-by-{by}.csv"
    urlpatterns.append(path(file, reports.download, {"by": by}, name=f"sales-by-{by}"))
