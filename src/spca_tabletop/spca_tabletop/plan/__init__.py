"""The built-in planning domain, its problems, and the words that link it to what is seen."""
