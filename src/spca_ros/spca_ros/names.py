"""The names of nodes, topics, services and actions, once. REP-105 frames are in `spca_ros.convert`."""

from __future__ import annotations

SIM, SENSE, PLANNER, CODER = "sim", "sense", "planner", "coder"
EXECUTOR, REFEREE, SUPERVISOR, DISPLAY = "executor", "referee", "supervisor", "display"

# --- topics
JOINT_STATES = "joint_states"
COLOUR, DEPTH = "camera/color/image_raw", "camera/depth/image_raw"
# The calibration is that of both pictures; viewers look for it next to each.
COLOUR_INFO, DEPTH_INFO = "camera/color/camera_info", "camera/depth/camera_info"
WRIST = "wrist_"  # what topics, service and frame of the camera at the wrist begin with: they are named alike
CONTACTS, PLACES = "contacts", "places"
SCENE = "scene"
PLAN = "plan"
VERDICT = "verdict"
EVENTS = "supervisor/events"
GRASPS, TRAJECTORY = "executor/grasps", "executor/trajectory"


def status(node: str) -> str:
    """Return the topic on which a node says that it is ready."""
    return f"{node}/status"


def of(node: str, name: str) -> str:
    """Return the name of a stage's service or action at the node that takes the stage's place."""
    return f"{node}/{name.rpartition('/')[2]}"


# --- services
CAPTURE, HOLD = "camera/capture", "arm/hold"
RESET, LET_PASS, SAVE_RECORDING = "sim/reset", "sim/let_pass", "sim/save_recording"
STOP, BEGIN_LEVEL = "executor/stop", "referee/begin_level"
JUDGE, LEARNED = "referee/judge", "planner/learned"

# --- actions
FOLLOW, GRIPPER = "arm/follow_trajectory", "gripper/command"
PERCEIVE, MAKE_PLAN, WRITE_SKILLS = "sense/perceive", "planner/make_plan", "coder/write_skills"
EXECUTE, LOOK = "executor/execute_plan", "executor/look"
RUN_LEVEL, DO = "supervisor/run_level", "supervisor/do"
