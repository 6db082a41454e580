"""What the tests of several packages share: contracts of the ports, scripted models, doubles."""
