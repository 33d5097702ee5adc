"""Who writes insights: extractive, or a language model."""
