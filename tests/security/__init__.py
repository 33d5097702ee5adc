"""Attacks on payments, against a real chain and a real facilitator. SECURITY.md lists threats with their tests.

After each test the ledger is compared with the balance on the chain (fixture in tests/support/fixtures.py).
"""
