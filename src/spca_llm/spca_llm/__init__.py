"""Language models behind any OpenAI-compatible server: configuration, requests, budgets, records and replay."""
