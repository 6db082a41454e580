"""Language models behind any OpenAI-compatible server: requests, budgets, records and replay."""
