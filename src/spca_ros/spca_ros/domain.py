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
from contextlib import contextmanager, suppress
from pathlib import Path

from spca_core.errors import InputError

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
    """Raise InputError where nothing can be sent over the interface that joins the nodes of a graph."""
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as probe:
        try:
            probe.sendto(b"", ("127.0.0.1", 9))
        except OSError as error:
            what, mend = "the loopback interface does not work", "`ip link set lo up`"
            raise InputError(what, str(error.strerror), mend) from None


def domain_in(variable: str = "ROS_DOMAIN_ID") -> int:
    """Return the domain that a variable of this terminal names, or 0. Raises InputError for what is none."""
    wanted = os.environ.get(variable) or "0"
    if not (wanted.isdecimal() and wanted.isascii() and int(wanted[:9]) <= 232):
        raise InputError(f"no ROS domain: '{wanted}'", where=variable, hint="0 to 232")
    return int(wanted)


@contextmanager
def own_domain() -> Iterator[int]:
    """Set ROS_DOMAIN_ID to a domain that no other process on this machine uses, while the context lasts.

    Where the user has set SPCA_DOMAIN_ID, that one is taken. Raises InputError where there is none.
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
    held, address = socket.socket(socket.AF_UNIX), _address(domain, use)
    try:
        held.bind(address)
        held.listen()
    except OSError:
        held.close()
        what = f"{_holder(address)} has a {use} of spca in the ROS domain {domain} already"
        hint = f"end it, or take another domain: export ROS_DOMAIN_ID=…{_ASK if use == 'program' else ''}"
        raise InputError(what, where="ROS_DOMAIN_ID", hint=hint) from None
    _claims.add(held)
    return held


def claimed(domain: int, use: str) -> bool:
    """Return whether a process on this machine, whoever's, has taken a domain for that use."""
    with socket.socket(socket.AF_UNIX) as probe:
        return not probe.connect_ex(_address(domain, use))


def _address(domain: int, use: str) -> str:
    return f"\0spca/{use}/{domain}"


def _holder(address: str) -> str:
    """Return the process that listens at an address, and its user, as the kernel knows them."""
    with socket.socket(socket.AF_UNIX) as probe:
        try:
            probe.connect(address)
            found = probe.getsockopt(socket.SOL_SOCKET, socket.SO_PEERCRED, struct.calcsize("3i"))
        except OSError:  # it ends just now
            return "another process"
    process, user, _ = struct.unpack("3i", found)
    with suppress(KeyError):
        return f"process {process} of {pwd.getpwuid(user).pw_name}"
    return f"process {process} of the user {user}"


@contextmanager
def _reserved() -> Iterator[int]:
    if os.environ.get("SPCA_DOMAIN_ID"):
        yield domain_in("SPCA_DOMAIN_ID")
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
    hint = "end the runs and nodes that nobody needs, or share a domain: export SPCA_DOMAIN_ID=…"
    raise InputError("every DDS domain of this machine is in use", hint=hint)


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
