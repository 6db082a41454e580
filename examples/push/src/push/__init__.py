"""The skill `push`: its action, its Python and its words lie beside this file."""
