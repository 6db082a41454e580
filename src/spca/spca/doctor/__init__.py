"""`spca doctor`: what this machine can run, version by version, and what to install for the rest."""
