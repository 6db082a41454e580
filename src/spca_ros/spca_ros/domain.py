"""A DDS domain for one graph alone: two graphs in one domain would take each other's nodes for their own.

Whoever starts a graph holds its domain by a socket that every user of this machine sees (in Linux's abstract
namespace, which lives as long as the process, and belongs to the same network as the graph).
"""

from __future__ import annotations

import os
import pwd
import random
import socket
import struct
import weakref
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from spca_core.errors import InputError, SpcaError

# 0 is what everybody uses who does not choose; 91 to 101 are left to who chooses by hand. Ports of domains up
# to 101 stay below Linux's ephemeral ports.
_DOMAINS = range(1, 91)

_ASK = "; or ask it: ros2 action send_goal /supervisor/do spca_interfaces/action/Do '{sentence: …}'"

_claims: weakref.WeakSet[socket.socket] = weakref.WeakSet()


def _drop_claims() -> None:
    """Close a parent's claims in a forked child, which would hold them on."""
    for held in tuple(_claims):
        held.close()


os.register_at_fork(after_in_child=_drop_claims)


def check_loopback() -> None:
    """Raise SpcaError where nothing can be sent over the interface that joins the nodes of a graph."""
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as probe:
        try:
            probe.sendto(b"", ("127.0.0.1", 9))
        except OSError as error:
            why = f"the loopback interface does not work ({error.strerror}): `ip link set lo up`"
            raise SpcaError(why) from None


@contextmanager
def own_domain() -> Iterator[int]:
    """Set ROS_DOMAIN_ID to a domain that no other process on this machine uses, while the context lasts.

    Where the user has set SPCA_DOMAIN_ID, that one is taken. Raises SpcaError without a loopback interface.
    """
    check_loopback()
    before = os.environ.get("ROS_DOMAIN_ID")
    with _reserved() as domain:
        os.environ["ROS_DOMAIN_ID"] = str(domain)
        try:
            yield domain
        finally:
            del os.environ["ROS_DOMAIN_ID"]
            if before is not None:
                os.environ["ROS_DOMAIN_ID"] = before


def claim(domain: int, use: str = "program") -> socket.socket:
    """Take a domain for the one program in it, until this process ends or closes what is returned.

    Raises InputError when another one on this machine has it, whoever's, and names that one.
    """
    held, address = socket.socket(socket.AF_UNIX), f"\0spca/{use}/{domain}"
    try:
        held.bind(address)
        held.listen()
    except OSError:
        held.close()
        raise InputError(
            f"{_holder(address)} has a {use} of spca in the ROS domain {domain} already",
            where="ROS_DOMAIN_ID",
            hint=f"end it, or take another domain: export ROS_DOMAIN_ID=…{_ASK if use == 'program' else ''}",
        ) from None
    _claims.add(held)
    return held


def _holder(address: str) -> str:
    """Return the process that listens at an address, and its user, as the kernel knows them."""
    with socket.socket(socket.AF_UNIX) as probe:
        try:
            probe.connect(address)
            found = probe.getsockopt(socket.SOL_SOCKET, socket.SO_PEERCRED, struct.calcsize("3i"))
        except OSError:  # it ends just now
            return "another process"
    process, user, _ = struct.unpack("3i", found)
    try:
        return f"process {process} of {pwd.getpwuid(user).pw_name}"
    except KeyError:
        return f"process {process} of the user {user}"


@contextmanager
def _reserved() -> Iterator[int]:
    if wanted := os.environ.get("SPCA_DOMAIN_ID"):
        if not (wanted.isdecimal() and wanted.isascii() and int(wanted[:9]) <= 232):
            raise InputError(f"no ROS domain: '{wanted}'", where="SPCA_DOMAIN_ID", hint="0 to 232")
        yield int(wanted)
        return
    for domain in random.sample(_DOMAINS, len(_DOMAINS)):
        try:
            held = claim(domain, "graph")
        except InputError:
            continue
        with held:
            if silent(domain):
                yield domain
                return
    raise SpcaError("every DDS domain of this machine is in use; are there runs that never ended?")


def silent(domain: int) -> bool:
    """Return whether no participant listens on a discovery or data port of the domain (RTPS 2.3, 9.6.1.1).

    All of the domain's ports are looked at: Fast DDS counts the participants of one process over all domains,
    so that the first one in a domain need not have the first port.
    """
    lines = Path("/proc/net/udp").read_text().splitlines()[1:]
    return {int(line.split()[1].rpartition(":")[2], 16) for line in lines}.isdisjoint(ports(domain))


def ports(domain: int) -> range:
    """Return the UDP ports of a domain."""
    return range(first := 7400 + 250 * domain, first + 250)
