"""A model's server for tests, which answers by a script and misbehaves on purpose."""
