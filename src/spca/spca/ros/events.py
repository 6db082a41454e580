"""Run events as messages."""

from __future__ import annotations

from spca_interfaces.msg import RunEvent
from spca_interfaces.msg import StepReport as StepReportMsg

from spca.events import Event
from spca_core.skill import StepReport
from spca_ros.convert.records import to_msg

# Which of an event's data travel, by kind: names in the record → names in the message.
_DATA: dict[str, dict[str, str]] = {
    "run_started": {"task": "task", "judge": "mode"},
    "stage_started": {"round": "round"},
    "stage_ended": {"seconds": "seconds"},
    "plan": {"steps": "task"},
    "draft": {"mode": "mode", "accepted": "accepted"},
    "code": {"kind": "mode"},
    "verdict": {"outcome": "outcome", "score": "score"},
    "round_failed": {"round": "round"},
    "run_ended": {"outcome": "outcome"},
}


def event_msg(event: Event) -> RunEvent:
    """Return an event as a message."""
    message = to_msg(event, RunEvent())
    if event.kind == "step":
        message.step = [to_msg(StepReport.model_validate(event.data), StepReportMsg())]
    for name, there in _DATA.get(event.kind, {}).items():
        if name in event.data:
            value = event.data[name]
            setattr(message, there, "\n".join(value) if isinstance(value, list) else value)
    return message
