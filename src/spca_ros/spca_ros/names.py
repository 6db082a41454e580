"""The names of nodes, topics, services and actions, once. REP-105 frames are in `spca_ros.convert`."""

from __future__ import annotations

SIM, SENSE, PLANNER, CODER = "sim", "sense", "planner", "coder"
EXECUTOR, REFEREE, SUPERVISOR, DISPLAY = "executor", "referee", "supervisor", "display"

# --- topics
JOINT_STATES = "joint_states"
COLOUR, DEPTH = "camera/color/image_raw", "camera/depth/image_raw"
# The calibration is that of both pictures; viewers look for it next to each.
COLOUR_INFO, DEPTH_INFO = "camera/color/camera_info", "camera/depth/camera_info"
CONTACTS, PLACES = "contacts", "places"
LEASE = "lease"
SCENE = "scene"
PLAN = "plan"
VERDICT = "verdict"
GRASPS, TRAJECTORY = "executor/grasps", "executor/trajectory"
DIAGNOSTICS = "/diagnostics"


def status(node: str) -> str:
    """The topic on which a node says that it is ready, and by its liveliness that it lives."""
    return f"{node}/status"


# --- services
CAPTURE, HOLD, PAUSE, RESET = "camera/capture", "arm/hold", "sim/pause", "sim/reset"
PERCEIVE, STOP, BEGIN_LEVEL, LEARNED = (
    "sense/perceive",
    "executor/stop",
    "referee/begin_level",
    "planner/learned",
)
JUDGE = "referee/judge"


def checkpoint(node: str) -> str:
    """The service that gives a node's complete state."""
    return f"{node}/checkpoint"


def restore(node: str) -> str:
    """The service that takes a node back to a state."""
    return f"{node}/restore"


def save_recording(node: str) -> str:
    """The service that writes what a node has recorded."""
    return f"{node}/save_recording"


# --- actions
FOLLOW, GRIPPER = "arm/follow_trajectory", "gripper/command"
PERCEIVE, MAKE_PLAN, WRITE_SKILLS, EXECUTE, LOOK, RUN_LEVEL = (
    "sense/perceive",
    "planner/make_plan",
    "coder/write_skills",
    "executor/execute_plan",
    "executor/look",
    "supervisor/run_level",
)

# --- files that nodes write into a run's folder
STATES_FILE, CONTACTS_FILE, LOOKS_FOLDER = "states.npz", "contacts.json", "looks"
