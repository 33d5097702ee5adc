"""The dashboard's pages of orders: the board, the list, an order, and orders by phone."""
