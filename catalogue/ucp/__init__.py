"""The Universal Commerce Protocol (ucp.dev): checkout sessions by which agents order food for guests.

    profile and negotiation -> requests -> sessions -> orders.ordering_page (rules, prices, orders) -> responses

The protocol translates: what a dish costs, whether it can be had and how an order is placed and paid is decided where
the ordering page decides it. docs/ucp.md is for agents, decision 0106 says why.
"""
