"""Paths of the payments pages, below /dashboard."""

from django.urls import path

from payments.dashboard import invoices, ledger, wallets

urlpatterns = [
    path("<slug:venue>/data", wallets.service, name="data-service"),
    path("<slug:venue>/data/wallets/new", wallets.new, name="wallet-new"),
    path("<slug:venue>/data/wallets/link", wallets.link, name="wallet-link"),
    path("<slug:venue>/data/wallets/<slug:address>/unlink", wallets.unlink, name="wallet-unlink"),
    path("<slug:venue>/data/wallets/<slug:address>/refresh", wallets.refresh, name="wallet-refresh"),
    path("<slug:venue>/data/sessions/<uuid:session>/end", wallets.end_session, name="wallet-session-end"),
    path("<slug:venue>/data/payments", ledger.ledger, name="data-payments"),
    path("<slug:venue>/data/payments/file", ledger.payments_csv, name="data-payments-file"),
    path("<slug:venue>/data/payments/<slug:payment>", ledger.payment, name="data-payment"),
    path("<slug:venue>/data/spending", ledger.spending_page, name="data-spending"),
    path("<slug:venue>/data/spending/limit", ledger.limit, name="data-spending-limit"),
    path("<slug:venue>/data/invoices", invoices.invoices, name="data-invoices"),
    path("<slug:venue>/data/invoices/<slug:month>", invoices.invoice, name="data-invoice"),
]
