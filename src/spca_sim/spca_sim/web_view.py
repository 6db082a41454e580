"""A page in the browser that shows the simulation while it runs: `--view web`, with the package `viser`.

Whoever runs the level tells it of the run: in one process its environment, on a graph the node `sim`, which
hears the supervisor's feedback.

It is served to this machine alone, to whoever has its address, which holds a key (a browser lets any page ask
this machine). From another one, forward the port: `ssh -L 8080:127.0.0.1:8080 …`.
"""

from __future__ import annotations

import importlib.util
import secrets
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any
from urllib.parse import parse_qs, urlsplit

import numpy as np
from numpy.typing import NDArray

from spca_core.errors import InputError
from spca_core.names import symbol_of, words_of
from spca_robot.windowless import mujoco
from spca_robot.workspace_model import WorkspaceIndex
from spca_sim.live_view import AttachedView
from spca_sim.recording import SimState
from spca_sim.simulator import MujocoSimulator

HOST, PORT = "127.0.0.1", 8080
_COOKIE = "spca_view"


def require_viser() -> None:
    """Raise InputError where there is nothing to serve the page with."""
    if importlib.util.find_spec("viser") is None:
        hint = "pip install 'spca[view]', or viser alone"
        raise InputError("the package `viser` is not installed", where="--view web", hint=hint)


@contextmanager
def _guarded(key: str) -> Iterator[None]:
    """Have the server that starts meanwhile answer only what `_admitted` lets in, or raise InputError."""
    from websockets.asyncio import server

    began, started = server.serve, False

    def serve(*args: Any, process_request: Callable[..., Any], **options: Any) -> Any:
        nonlocal started
        started = True

        def answer(connection: Any, request: Any) -> Any:
            asked = request.headers.get_all
            if not _admitted(key, request.path, asked("Host"), asked("Origin"), asked("Cookie")):
                return connection.respond(403, "Open the address that spca has printed.\n")
            response = process_request(connection, request)
            if response is not None:
                response.headers["Set-Cookie"] = f"{_COOKIE}={key}; HttpOnly; SameSite=Strict; Path=/"
            return response

        return began(*args, process_request=answer, **options)

    server.serve = serve  # type: ignore[assignment]
    try:
        yield
    finally:
        server.serve = began
    if not started:
        raise InputError("this version of `viser` cannot be guarded", "--view web", "pip install 'viser<1.2'")


def _admitted(key: str, path: str, hosts: list[str], origins: list[str], cookies: list[str]) -> bool:
    """Return whether a request is of the page itself, by a browser on this machine that was given the key."""
    host = hosts[0] if len(hosts) == 1 else ""
    if urlsplit(f"//{host}").hostname not in (HOST, "localhost") or origins not in ([], [f"http://{host}"]):
        return False
    kept = [c.strip().removeprefix(f"{_COOKIE}=") for line in cookies for c in line.split(";")]
    given = [*parse_qs(urlsplit(path).query).get("key", []), *kept]
    return any(secrets.compare_digest(g.encode(), key.encode()) for g in given)


class WebView(AttachedView):
    """A simulator as a 3D scene on a local page, beside plan, contacts, the camera's picture and the verdict.

    Raises InputError where `viser` is not installed.
    """

    _period = 1 / 20

    def __init__(self, simulator: MujocoSimulator, port: int = PORT) -> None:
        require_viser()
        import viser

        key = secrets.token_urlsafe(16)
        with _guarded(key):
            self._server = viser.ViserServer(HOST, port, "spca", verbose=False)
        self.address = f"http://{HOST}:{self._server.get_port()}/?key={key}"
        gui = self._server.gui
        gui.configure_theme(control_layout="fixed", control_width="large", show_share_button=False)
        self._task, self._steps = gui.add_markdown(""), gui.add_markdown("")
        self._contacts = gui.add_markdown("")
        self._picture: viser.GuiImageHandle | None = None
        self._plan: list[str] = []
        self._done: dict[str, str] = {}
        super().__init__(simulator)

    def await_viewer(self, most: float = 60.0) -> None:
        """Say where the page is, and wait for somebody to open it, at most so many seconds of wall time."""
        print(f"  view    {self.address} (waiting for a browser there)", file=sys.stderr, flush=True)
        end = time.monotonic() + most
        while not self._server.get_clients() and time.monotonic() < end:
            time.sleep(0.1)

    def close(self) -> None:
        """End the page."""
        super().close()
        self._server.stop()

    def tell(self, kind: str, text: str, data: dict[str, Any]) -> None:
        """Show an event of the run: what begins, the plan, a step, the verdict."""
        if kind == "run_started":
            self._plan, self._done = [], {}
            self._task.content = f"**{text}**"
        elif kind == "plan":
            self._plan, self._done = list(data["steps"]), {}
        elif kind == "step":
            self._done[text] = "✓" if data.get("status") == "done" else "✗"
        elif kind in ("verdict", "run_ended"):
            self._task.content = f"**{data.get('outcome', '').replace('_', ' ')}** {text}"
        following = next((step for step in self._plan if step not in self._done), "")
        rows = [f"{self._done.get(s, '▶' if s == following else '·')} {s}" for s in self._plan]
        self._steps.content = "  \n".join(rows)

    def saw(self, picture: NDArray[np.uint8]) -> None:
        """Show what the camera saw: RGB (height, width, 3)."""
        if self._picture is not None:  # a page that is open keeps the first one's place and size
            self._picture.remove()
        self._picture = self._server.gui.add_image(picture, label="what the camera saw", format="jpeg")

    # --- the scene ------------------------------------------------------------------------------------------

    def _build(self) -> None:
        scene, model = self._server.scene, self._model
        self._index = WorkspaceIndex(model)
        scene.reset()
        scene.set_up_direction("+z")
        self._server.initial_camera.position = (1.5, 0.9, 1.3)
        self._server.initial_camera.look_at = (0.3, 0.0, 0.5)
        bodies = [b for b in range(1, model.nbody) if model.body_geomnum[b]]
        self._frames = {b: scene.add_frame(f"/{b}", show_axes=False) for b in bodies}
        for g in range(model.ngeom):
            body, shape = int(model.geom_bodyid[g]), _shape(model, g)
            if shape is not None and body in self._frames:
                colour = tuple(int(255 * c) for c in model.geom_rgba[g][:3])
                scene.add_mesh_simple(
                    f"/{body}/{g}", *shape, color=colour, flat_shading=True,
                    position=model.geom_pos[g], wxyz=model.geom_quat[g],
                )  # fmt: skip

    def _show(self, state: SimState) -> None:
        self._move(state)
        with self._server.atomic():
            for body, frame in self._frames.items():
                frame.position, frame.wxyz = self._data.xpos[body], self._data.xquat[body]
        touching = ", ".join(self._touching()) or "nothing"
        self._contacts.content = f"**{state.stamp:.1f} s**, in contact: {touching}"

    def _touching(self) -> list[str]:
        models = self._index.geom_models
        pairs = {tuple(sorted(models[int(g)] for g in c.geom)) for c in self._data.contact[: self._data.ncon]}
        said = ([words_of(symbol_of(name)) for name in pair] for pair in pairs if len(set(pair)) > 1)
        return sorted(" – ".join(pair) for pair in said)


def _shape(model: mujoco.MjModel, geom: int) -> tuple[NDArray[Any], NDArray[Any]] | None:
    """Vertices and faces of a geom in its own frame; None for what need not be drawn."""
    import trimesh.creation as make

    kind, size = mujoco.mjtGeom(model.geom_type[geom]), model.geom_size[geom]
    if model.geom_rgba[geom][3] == 0:
        return None
    if kind == mujoco.mjtGeom.mjGEOM_MESH:
        mesh = model.geom_dataid[geom]
        first, count = model.mesh_vertadr[mesh], model.mesh_vertnum[mesh]
        start, faces = model.mesh_faceadr[mesh], model.mesh_facenum[mesh]
        return model.mesh_vert[first : first + count], model.mesh_face[start : start + faces]
    makers = {
        mujoco.mjtGeom.mjGEOM_BOX: lambda: make.box(extents=2 * size),
        mujoco.mjtGeom.mjGEOM_SPHERE: lambda: make.icosphere(radius=size[0]),
        mujoco.mjtGeom.mjGEOM_CYLINDER: lambda: make.cylinder(radius=size[0], height=2 * size[1]),
        mujoco.mjtGeom.mjGEOM_CAPSULE: lambda: make.capsule(radius=size[0], height=2 * size[1]),
    }
    if kind not in makers:
        return None
    found = makers[kind]()
    return np.asarray(found.vertices), np.asarray(found.faces)
