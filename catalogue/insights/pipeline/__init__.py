"""Generation of insights: inputs, jobs, cost budget, staleness, approval."""
