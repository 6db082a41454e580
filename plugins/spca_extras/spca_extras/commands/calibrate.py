"""`spca calibrate`."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from spca.commands import MACHINE, Command

_app = typer.Typer()
CALIBRATE = Command(lambda app: app.add_typer(_app))
_PICTURES = (".png", ".jpg", ".jpeg")


@_app.command(
    rich_help_panel=MACHINE,
    epilog="Examples:  spca calibrate --draw board.png · spca calibrate pictures/ > worlds/cell.yaml",
)
def calibrate(
    folder: Annotated[
        Path | None,
        typer.Argument(
            help="Pictures; beside each NAME.png a NAME.yaml with the joint state, or the tool's pose."
        ),
    ] = None,
    world: Annotated[str, typer.Option(help="The world whose robot and camera they are.")] = "tabletop",
    columns: Annotated[int, typer.Option(help="Squares of the board in a row.")] = 7,
    rows: Annotated[int, typer.Option(help="Squares of the board in a column.")] = 5,
    square: Annotated[float, typer.Option(help="Side of a square, metres, as measured.")] = 0.035,
    marker: Annotated[float, typer.Option(help="Side of a marker, metres.")] = 0.026,
    dictionary: Annotated[
        str, typer.Option(help="OpenCV's name of the markers' dictionary.")
    ] = "DICT_4X4_50",
    at_wrist: Annotated[
        bool,
        typer.Option("--wrist", help="It is the world's wrist camera, and the board lies still."),
    ] = False,
    draw: Annotated[
        Path | None, typer.Option(help="Draw the board, 200 dots to an inch, to be printed.")
    ] = None,
) -> None:
    """Find where a camera is, fixed or at the wrist (hand–eye calibration), and print it as a world file.

    The robot holds a ChArUco board into the picture, or the camera over the board, turned differently each
    time. docs/real-robot.md has every step.
    """
    import cv2
    import numpy as np

    from spca.console import notices
    from spca_core.errors import InputError
    from spca_core.run_folder import read_picture
    from spca_core.world import load_world
    from spca_extras.hand_eye import Board, BoardPicture, corners
    from spca_extras.hand_eye import calibrate as fit
    from spca_extras.hand_eye_files import read_lens, read_wrist, residual, world_file
    from spca_robot.workspace_model import tool0

    board, console, described = Board(columns, rows, square, marker, dictionary), notices(), load_world(world)
    if draw is not None:
        dots = round(square / 0.0254 * 200)
        picture = board.pattern().generateImage((columns * dots, rows * dots))
        if not draw.parent.is_dir() or draw.suffix != ".png" or not cv2.imwrite(str(draw), picture):
            hint = "a name that ends in .png, in a folder that is there"
            raise InputError("cannot draw the board there", str(draw), hint)
        console.print(
            f"{draw}: print it at {columns * square * 1000:.0f} mm wide, and measure a square", markup=False
        )
    if folder is None:
        if draw is None:
            raise InputError("no folder with pictures", hint="see spca calibrate --help")
        return
    if not folder.is_dir():
        raise InputError("no such folder", str(folder))
    if (mount := described.wrist_camera if at_wrist else described.camera) is None:
        raise InputError("the world has no `wrist_camera`", world, "docs/disturbances.md says what it is")
    camera, lens = read_lens(folder / "camera_info.yaml", mount)
    views, unseen = [], []
    for path in sorted(p for p in folder.iterdir() if p.suffix.lower() in _PICTURES):
        grey = read_picture(path, cv2.IMREAD_GRAYSCALE)
        if grey is None or grey.shape != (camera.height, camera.width):
            size = "not a picture" if grey is None else f"a picture of {grey.shape[1]} x {grey.shape[0]}"
            raise InputError(size, str(path), f"the camera has {camera.width} x {camera.height} pixels")
        carrier = read_wrist(path.with_suffix(".yaml"), described)
        if at_wrist:
            carrier = np.linalg.inv(carrier @ tool0(described.robot.wrist_sensor)).astype(float)
        if (seen := corners(grey, board)) is None:
            unseen.append(path.name)
        else:
            views.append(BoardPicture(path.name, carrier, *seen))
    if unseen:
        console.print(f"the board is not seen in: {', '.join(unseen)}", markup=False)
    found = fit(views, lens)
    typer.echo(world_file(world, camera, found, "wrist_camera" if at_wrist else "camera"), nl=False)
    console.print(residual(found), markup=False)
