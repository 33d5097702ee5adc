"""Invoices: the payments and refunds of an account's wallets in a month, as a page and as PDF."""
