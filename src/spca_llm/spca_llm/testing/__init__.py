"""A scripted language-model server for tests, which can misbehave on purpose."""
