"""Contract tests of this package's ports; every implementation runs them."""
