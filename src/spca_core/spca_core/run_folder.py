"""A run on disk: every attempt and decision, written so that a kill at any moment leaves it readable."""

from __future__ import annotations

import errno
import fcntl
import hmac
import os
import re
import shutil
import tempfile
import time
import weakref
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from datetime import datetime
from functools import cache
from pathlib import Path
from typing import Any, TypeVar

from pydantic import BaseModel, ValidationError

from spca_core.errors import InputError
from spca_core.paths import RUNS, state_folder
from spca_core.validation import expecting, plain

_FULL = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG)


def is_full(error: BaseException) -> bool:
    """Return whether an error means that the disk, the quota or the process's limit is full."""
    return isinstance(error, OSError) and error.errno in _FULL


def write_picture(path: Path, picture: Any, parameters: Sequence[int] = ()) -> None:
    """Write a picture, (h, w), (h, w, 3) in BGR or 16 bits a pixel, in the format of its suffix.

    Raises OSError where it cannot be written, unlike OpenCV's own `imwrite`, which fails silently.
    """
    import cv2

    path.write_bytes(cv2.imencode(path.suffix, picture, list(parameters))[1].tobytes())


def read_picture(path: Path, flags: int = 1) -> Any:
    """Return what `write_picture` wrote, as OpenCV reads it with these flags; None where no picture is.

    OpenCV's own `imread` waits for pipes, and takes the process with it at a name that is not UTF-8.
    """
    import cv2
    import numpy as np

    try:
        return cv2.imdecode(np.frombuffer(plain(path).read_bytes(), np.uint8), flags)
    except (OSError, cv2.error):
        return None


_NEW_S = 60.0  # seconds within which a folder's maker may not have locked it yet


class Scratch:
    """A folder that goes with its maker, or with the end of it as a context; what is forked off leaves it."""

    def __init__(self, prefix: str) -> None:
        self.name = tempfile.mkdtemp(prefix=prefix)
        self.cleanup = weakref.finalize(self, _clear, self.name, locked(Path(self.name)), os.getpid())

    def __enter__(self) -> str:
        return self.name

    def __exit__(self, *_: object) -> None:
        self.cleanup()


def _clear(folder: str, held: int, maker: int) -> None:
    if os.getpid() == maker:
        shutil.rmtree(folder, ignore_errors=True)
    os.close(held)


def scratch(kind: str) -> Scratch:
    """Make a folder `spca-KIND-…`, and remove those that killed makers have left.

    Older revisions named theirs with underscores and did not lock them: those are left alone.
    """
    prefix = f"spca-{kind}-"
    for folder in Path(tempfile.gettempdir()).glob(f"{prefix}*"):
        with suppress(OSError):
            found = folder.lstat()
            if found.st_uid == os.getuid() and time.time() - found.st_mtime > _NEW_S:
                _clear(str(folder), locked(folder), os.getpid())
    return Scratch(prefix)


def locked(folder: Path) -> int:
    """Return a descriptor that locks a folder until its process ends. OSError where another one locks it."""
    descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW)
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        os.close(descriptor)
        raise
    return descriptor


T = TypeVar("T", bound=BaseModel)

MANIFEST = "run.json"
STATE = "state.json"
CHECKPOINT = "checkpoint.bin"
EVENTS = "events.jsonl"


def write_atomically(path: Path, content: bytes) -> None:
    """Write a file so that it is either the old one or the whole new one, even if the power fails."""
    path.parent.mkdir(parents=True, exist_ok=True)
    temporary = path.with_name(f".{path.name}.{os.urandom(6).hex()}")
    try:
        with temporary.open("xb") as stream:  # for whom the user's umask says, like every other file
            stream.write(content)
            stream.flush()
            os.fsync(stream.fileno())
        temporary.replace(path)
    except BaseException as error:
        temporary.unlink(missing_ok=True)
        if isinstance(error, OSError):
            error.filename = str(path)
        raise


def _seal(name: str) -> str:
    return f".{name}.seal"


@cache
def _key() -> bytes:
    """Return a secret of this checkout; it is made on first use, and readable by its user only."""
    path = state_folder() / ".checkpoint-key"
    path.parent.mkdir(parents=True, exist_ok=True)
    if not path.exists():
        handle, temporary = tempfile.mkstemp(dir=path.parent, prefix=f"{path.name}.")
        try:
            with os.fdopen(handle, "wb") as file:
                file.write(os.urandom(32))
            # Unless another process has just made one.
            with suppress(FileExistsError):
                os.link(temporary, path)
        finally:
            os.unlink(temporary)
    return path.read_bytes()


class RunFolder:
    """One run's files. `create` makes a new folder, `open` takes up an existing one.

    Whoever runs in it has claimed it, for as long as this object lives: two runs would mix their files.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        self.on_video: Callable[[int, int], None] = lambda drawn, total: None
        """Listener that is told how many pictures of the video are drawn, and of how many."""

    @classmethod
    def create(cls, level: str, path: str | Path | None = None, parent: Path = RUNS) -> RunFolder:
        """Make a new, empty folder. Raises InputError when `path` is occupied or cannot be written to."""
        if path is None:
            # `minigrid:…`: a colon stands between hosts, drives, paths
            level = re.sub(r"[^A-Za-z0-9_.-]", "_", level)
            names = (f"{datetime.now():%Y%m%d-%H%M%S}_{level}{n and f'_{n}'}" for n in ("", *range(2, 1000)))
            path = next(place for name in names if not (place := parent / name).exists())
        hint = "name a new one, or `spca resume` it"
        occupied = InputError("run folder is occupied", where=str(path), hint=hint)
        try:
            path = Path(path)
            str(path.absolute()).encode()  # a log that names it is UTF-8
            if path.exists() and (not path.is_dir() or any(path.iterdir())):
                raise occupied
            path.mkdir(parents=True, exist_ok=True)
            with tempfile.TemporaryFile(dir=path):
                pass
            folder = cls(path)
            if not folder.claim() or any(path.iterdir()):  # by another run, a moment ago
                raise occupied
        except (OSError, ValueError, TypeError) as error:  # the latter two: no name of a file
            if is_full(error):
                raise
            why = "cannot write here: " + (getattr(error, "strerror", "") or str(error))
            raise InputError(why, where=str(path), hint="name another folder") from error
        return folder

    @classmethod
    def open(cls, path: Path) -> RunFolder:
        """Return the folder of an existing run. Raises InputError when there is none."""
        if not path.is_dir() and (RUNS / path).is_dir():
            path = RUNS / path
        if not (path / MANIFEST).is_file():
            newest = sorted(RUNS.glob(f"*/{MANIFEST}"))[-1:]
            hint = f"the newest run is {newest[0].parent}" if newest else "there are no runs yet"
            raise InputError("not a run folder", where=str(path), hint=hint)
        return cls(path)

    def check(self) -> None:
        """Raise InputError where somebody has removed the folder, though a part of it may be there anew."""
        if not (self.path / MANIFEST).is_file():
            raise InputError("the run's folder has been removed", str(self.path), "begin the run again")

    def claim(self) -> bool:
        """Claim the folder for a run of this process. Returns False where another run has it."""
        try:
            weakref.finalize(self, os.close, locked(self.path))
        except BlockingIOError:
            return False
        except OSError:  # a file system without locks
            pass
        return True

    def write(self, name: str, value: BaseModel | str | bytes) -> Path:
        """Write one file whole: records as JSON, text and bytes as they are.

        What text cannot be written in UTF-8 (lone surrogates from a damaged file) becomes question marks.
        """
        if isinstance(value, BaseModel):
            content = value.model_dump_json(indent=1).encode()
        else:
            content = value.encode(errors="replace") if isinstance(value, str) else value
        write_atomically(self.path / name, content)
        return self.path / name

    def read(self, name: str, kind: type[T]) -> T:
        """Return a record that was written before. Raises InputError when it is missing or damaged."""
        path = self.path / name
        if not path.is_file():
            raise InputError("missing from the run folder", where=str(path))
        with expecting("as it was written", path):
            return kind.model_validate_json(plain(path).read_bytes())

    def files(self, stage: str) -> list[Path]:
        """Return a stage's files of all rounds (`round_2/plan_7.json`), in the order of their writing."""
        found = {f: f.stem.rpartition("_")[2] for f in self.path.glob(f"round_*/{stage}_*.json")}
        return sorted((f for f in found if found[f].isdecimal()), key=lambda f: int(found[f]))

    @property
    def looks(self) -> list[Path]:
        """The files of what was seen at the beginning of each round, in the order of the rounds."""
        return sorted(self.path.glob("round_*/observation.json"), key=lambda file: file.parent.name.zfill(99))

    def read_stage(self, stage: str, kind: type[T]) -> list[T]:
        """Return the results of a stage, one for each call of it. Raises InputError for a damaged record."""
        return [self.read(str(file.relative_to(self.path)), kind) for file in self.files(stage)]

    def read_bytes(self, name: str) -> bytes | None:
        """Return a file's content, or None if there is none. Raises InputError for anything but a file."""
        path = self.path / name
        with expecting("a file of a run", path):
            return plain(path).read_bytes() if path.exists() else None

    def write_sealed(self, name: str, value: BaseModel | bytes) -> None:
        """Write a file that only this checkout can have written, of a run with these options.

        The seals of the last two contents are kept: a kill between seal and file leaves an authentic file.
        """
        content = value if isinstance(value, bytes) else value.model_dump_json(indent=1).encode()
        earlier = (self.read_bytes(_seal(name)) or b"").decode(errors="replace").split()[-1:]
        self.write(_seal(name), " ".join([*earlier, self._mark(name, content)]))
        self.write(name, content)

    def read_sealed(self, name: str) -> bytes | None:
        """Return what `write_sealed` wrote, or None. Raises InputError if another wrote or changed it."""
        content = self.read_bytes(name)
        if content is None:
            return None
        seals = (self.read_bytes(_seal(name)) or b"").decode(errors="replace").split()
        mark = self._mark(name, content)
        if not any(hmac.compare_digest(known.encode(), mark.encode()) for known in seals):
            raise InputError(
                "changed, or not written by this checkout",
                where=str(self.path / name),
                hint="begin the level again with `spca run`",
            )
        return content

    def _mark(self, name: str, content: bytes) -> str:
        options = self.read_bytes(MANIFEST) or b""
        text = b"%s %d %s%s" % (name.encode(), len(options), options, content)
        return hmac.digest(_key(), text, "sha256").hex()

    def append(self, record: BaseModel, name: str = EVENTS) -> None:
        """Append one record to a log, as a line."""
        with (self.path / name).open("a") as stream:
            stream.write(record.model_dump_json() + "\n")

    def read_log(self, kind: type[T], name: str = EVENTS) -> Iterator[T]:
        """Yield the records of a log; invalid lines, such as one cut short by a kill, are skipped."""
        for line in (self.read_bytes(name) or b"").splitlines():
            try:
                yield kind.model_validate_json(line)
            except ValidationError:
                continue
