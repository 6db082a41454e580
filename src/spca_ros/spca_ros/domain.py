"""A DDS domain for one graph alone: two graphs in one domain would take each other's nodes for their own."""

from __future__ import annotations

import fcntl
import os
import random
import socket
from collections.abc import Iterator
from contextlib import contextmanager
from typing import IO

from spca_core.errors import InputError, SpcaError
from spca_core.paths import runtime_folder

# Ports of domains up to 101 stay below Linux's ephemeral ports; 0 is what everybody uses who does not choose.
_DOMAINS = range(1, 102)


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


def claim(domain: int) -> IO[str]:
    """Take a domain for a graph of this process, until it ends or closes what is returned.

    Raises InputError when another graph of this user has it, and names that one.
    """
    folder = runtime_folder() / "domains"
    folder.mkdir(exist_ok=True)
    lock = (folder / str(domain)).open("a+")
    try:
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        with lock:
            lock.seek(0)
            holder = lock.read().strip()
        raise InputError(
            f"process {holder} has a graph of spca in the ROS domain {domain} already",
            where="ROS_DOMAIN_ID",
            hint="end it, or take another domain: export ROS_DOMAIN_ID=…",
        ) from None
    lock.truncate(0)
    lock.write(f"{os.getpid()}\n")
    lock.flush()
    return lock


@contextmanager
def _reserved() -> Iterator[int]:
    if "SPCA_DOMAIN_ID" in os.environ:
        yield int(os.environ["SPCA_DOMAIN_ID"])
        return
    for domain in random.sample(_DOMAINS, len(_DOMAINS)):
        try:
            lock = claim(domain)
        except InputError:
            continue
        with lock:
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
