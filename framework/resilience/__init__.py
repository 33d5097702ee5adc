"""Circuit breakers, bulkheads, deadlines."""
