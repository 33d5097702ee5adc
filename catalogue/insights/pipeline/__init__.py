"""Writing insights: batches, jobs, budget, approval."""
