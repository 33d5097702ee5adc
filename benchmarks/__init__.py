"""How fast the product is: measured where it runs, as ratios to references of the same run."""
