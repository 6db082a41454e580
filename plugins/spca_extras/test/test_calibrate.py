"""`spca calibrate` on pictures of a board that were rendered for known poses."""

import shutil
from collections.abc import Callable
from pathlib import Path
from subprocess import CompletedProcess

import cv2
import numpy as np
import pytest
import yaml
from scipy.spatial.transform import Rotation

from spca_core.geometry import Array, Pose
from spca_core.world import load_world
from spca_extras.hand_eye import Board
from spca_robot.kinematics import ArmKinematics
from spca_testing.command import spca

WORLD = load_world("tabletop@ur5e")
BOARD = Board(7, 5, 0.035, 0.026)
SIZE, FOCUS, CENTRE = (1280, 720), (910.0, 912.0), (645.0, 355.0)
MATRIX = np.array([[FOCUS[0], 0, CENTRE[0]], [0, FOCUS[1], CENTRE[1]], [0, 0, 1]])
DISTORTION = [0.03, -0.05, 0.001, -0.0005, 0.0]


def transform(turn: list[float], shift: list[float]) -> Array:
    return np.block(
        [[Rotation.from_euler("xyz", turn, degrees=True).as_matrix(), np.c_[shift]], [0, 0, 0, 1]]
    )


CAMERA = WORLD.camera.pose.matrix() @ transform([6, -4, 3], [0.03, 0.02, -0.05])
HELD = transform([8, -5, 20], [-0.11, -0.09, 0.13])  # the board at the flange, fastened somehow


def rendered(board: Array, noise: np.random.Generator) -> np.ndarray:
    """The picture of a board (4×4, in the camera's frame): drawn twice as large, distorted, made smaller."""
    dots, twice = 4000.0, np.diag([2.0, 2.0, 1.0])  # to a metre
    drawn = BOARD.pattern().generateImage((round(7 * 0.035 * dots), round(5 * 0.035 * dots)))
    flat = twice @ MATRIX @ board[:3, [0, 1, 3]] @ np.diag([1 / dots, 1 / dots, 1.0])
    plain = cv2.warpPerspective(drawn, flat, (2 * SIZE[0], 2 * SIZE[1]), borderValue=150)
    where = np.stack(np.meshgrid(np.arange(SIZE[0]), np.arange(SIZE[1])), -1).astype(np.float32)
    seen = cv2.undistortPoints(where.reshape(-1, 1, 2), MATRIX, np.array(DISTORTION), P=MATRIX)
    seen = (2 * seen).reshape(SIZE[1], SIZE[0], 2)
    picture = cv2.remap(cv2.GaussianBlur(plain, (3, 3), 0), seen, None, cv2.INTER_LINEAR).astype(float)
    return np.clip(picture + noise.normal(0, 3, picture.shape), 0, 255).astype(np.uint8)


@pytest.fixture(scope="module")
def taken(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Pictures of a fixed camera."""
    return take(tmp_path_factory.mktemp("pictures"), lambda board: CAMERA @ board @ np.linalg.inv(HELD))


def take(folder: Path, flange_of: Callable[[Array], Array]) -> Path:
    """Twelve pictures, with the joints of the arm, or the pose of its tool, beside each.

    `flange_of` tells where in `world` the flange is when the camera sees the board there (4×4).
    """
    draw = np.random.default_rng(3)
    base = Pose.from_xyz_yaw(*WORLD.robot.base.position, WORLD.robot.base.yaw).matrix()
    kinematics = ArmKinematics(WORLD.robot.arm)
    while len(list(folder.iterdir())) < 24:
        board = transform(
            [*draw.uniform(-25, 25, 2), draw.uniform(-60, 60)],
            [draw.uniform(-0.2, 0.0), draw.uniform(-0.15, 0.0), draw.uniform(0.5, 0.65)],
        )
        flange = np.linalg.inv(base) @ flange_of(board)
        branches = kinematics.inverse_branches(flange)
        joints = branches[~np.isnan(branches[:, 0])]
        if not len(joints):
            continue
        name = f"{len(list(folder.iterdir())) // 2:02}"
        cv2.imwrite(str(folder / f"{name}.png"), rendered(board, draw))
        if int(name) % 2:
            pose = Pose.from_matrix(flange).model_dump(mode="json")
            (folder / f"{name}.yaml").write_text(yaml.safe_dump(pose))
        else:
            order = [3, 0, 5, 1, 4, 2]
            state = {"header": {"stamp": {"sec": 1}}, "name": [WORLD.robot.arm.joint_names[i] for i in order]}
            state |= {"position": [float(joints[0][i]) for i in order], "velocity": []}
            (folder / f"{name}.yaml").write_text(yaml.safe_dump(state) + "---\n")
    info = {"width": SIZE[0], "height": SIZE[1], "d": DISTORTION, "k": MATRIX.ravel().tolist()}
    (folder / "camera_info.yaml").write_text(yaml.safe_dump(info) + "---\n")
    return folder


def calibrate(*words: object) -> CompletedProcess[str]:
    return spca("calibrate", *map(str, words))


def near(found: Pose, true: Array) -> bool:
    """Within a millimetre and a tenth of a degree."""
    off = np.linalg.inv(true) @ found.matrix()
    turn = Rotation.from_matrix(off[:3, :3]).magnitude()
    return bool(np.linalg.norm(off[:3, 3]) < 0.001 and turn < np.radians(0.1))


def test_the_camera_is_found_and_printed_as_a_world(taken: Path, tmp_path: Path) -> None:
    said = calibrate(taken, "--world", "tabletop@ur5e")
    assert said.returncode == 0 and "calibrated from 12 pictures" in said.stderr
    (tmp_path / "cell.yaml").write_text(said.stdout)
    camera = load_world(tmp_path / "cell.yaml").camera
    assert near(camera.pose, CAMERA), said.stderr
    assert (camera.width, camera.height, camera.fx, camera.cy) == (*SIZE, FOCUS[0], CENTRE[1])


def test_a_camera_at_the_wrist_is_found_in_tool0_from_a_board_that_lies_still(tmp_path: Path) -> None:
    rough = load_world("wrist@ur5e").wrist_camera
    assert rough is not None
    mounted = rough.pose.matrix() @ transform([5, 8, -4], [0.01, -0.02, 0.015])
    lying = transform([180, 0, 25], [0.45, 0.05, WORLD.table.top])
    (tmp_path / "pictures").mkdir()
    take(tmp_path / "pictures", lambda board: lying @ np.linalg.inv(mounted @ board))
    said = calibrate(tmp_path / "pictures", "--world", "wrist@ur5e", "--wrist")
    (tmp_path / "cell.yaml").write_text(said.stdout)
    world = load_world(tmp_path / "cell.yaml")
    assert world.wrist_camera is not None and world.camera == load_world("wrist").camera
    assert near(world.wrist_camera.pose, mounted), said.stderr


def test_poses_that_do_not_belong_to_the_pictures_give_no_camera(taken: Path, tmp_path: Path) -> None:
    folder = tmp_path / "pictures"
    shutil.copytree(taken, folder)
    (folder / "02.yaml").rename(folder / "x.yaml")
    (folder / "06.yaml").rename(folder / "02.yaml")
    (folder / "x.yaml").rename(folder / "06.yaml")
    refused = calibrate(folder, "--world", "tabletop@ur5e")
    assert refused.returncode == 2 and not refused.stdout
    assert "pictures and poses do not fit" in refused.stderr.splitlines()[-1], refused.stderr
