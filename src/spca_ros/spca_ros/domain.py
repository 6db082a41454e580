"""A DDS domain of one's own for a run, so that runs on one machine do not hear each other."""

from __future__ import annotations

import fcntl
import os
import random
import socket
from collections.abc import Iterator
from contextlib import contextmanager

from spca_core.errors import SpcaError
from spca_core.paths import state_folder

# Ports of domains up to 101 stay below Linux's ephemeral ports; 0 is what everybody uses who does not choose.
_DOMAINS = range(1, 102)
_LOCKS = state_folder() / ".domains"


@contextmanager
def own_domain() -> Iterator[int]:
    """Set ROS_DOMAIN_ID to a domain that no other process on this machine uses, while the context lasts.

    Where the user has set SPCA_DOMAIN_ID, that one is taken.
    """
    before = os.environ.get("ROS_DOMAIN_ID")
    with _reserved() as domain:
        os.environ["ROS_DOMAIN_ID"] = str(domain)
        try:
            yield domain
        finally:
            if before is None:
                del os.environ["ROS_DOMAIN_ID"]
            else:
                os.environ["ROS_DOMAIN_ID"] = before


@contextmanager
def _reserved() -> Iterator[int]:
    if "SPCA_DOMAIN_ID" in os.environ:
        yield int(os.environ["SPCA_DOMAIN_ID"])
        return
    _LOCKS.mkdir(parents=True, exist_ok=True)
    for domain in random.sample(_DOMAINS, len(_DOMAINS)):
        with (_LOCKS / str(domain)).open("w") as lock:
            try:
                fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError:
                continue
            if _silent(domain):
                yield domain
                return
    raise SpcaError("every DDS domain of this machine is in use; are there runs that never ended?")


def _silent(domain: int) -> bool:
    """Whether no participant listens on the domain's first discovery ports (RTPS 2.3, 9.6.1.1)."""
    for participant in range(4):
        with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as probe:
            try:
                probe.bind(("127.0.0.1", 7400 + 250 * domain + 10 + 2 * participant))
            except OSError:
                return False
    return True
