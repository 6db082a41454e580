"""Make the animation at the top of README.md from a run: what was sensed, the plan, the arm, the verdict.

    bin/spca run stack_04 --out /tmp/stack_04 && .venv/bin/python scripts/gif.py /tmp/stack_04

writes docs/images/stack_04.gif: about ten seconds, at most 2 MB. With a second argument that ends in .jpg,
only the last picture of the video is written: what a run came to, for a page of the docs.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator
from pathlib import Path

import av
from PIL import Image, ImageDraw, ImageFont
from PIL.Image import Quantize

SIZE = (560, 315)  # px
TEXT_S, MOVE_S = 1.6, 5.5  # seconds of wall time for each of sensing and plan, and for the arm
RATE = 7  # pictures of the arm a second
MOST = 2_000_000  # bytes


def frames(run: Path) -> Iterator[tuple[Image.Image, float]]:
    """Pictures, each with the seconds for which it stays."""
    begun, *_ = (json.loads(line) for line in (run / "events.jsonl").read_text().splitlines())
    plan = json.loads(next(run.glob("round_1/plan_*.json")).read_text())["plan"]["steps"]
    look, text = Image.open(run / "looks" / "01.jpg"), json.loads((run / "looks" / "01.json").read_text())
    with av.open(str(run / "video.mp4")) as video:
        moving = [frame.to_image() for frame in video.decode(video=0)]
    yield _said(look, ["Sense", *text["sentences"][:2]]), TEXT_S
    steps = [f"{step['action']}({', '.join(step['args'])})" for step in plan]
    yield _said(moving[0], [f"Plan: {begun['text']}", *steps]), TEXT_S
    shown = len(json.loads((run / "video.json").read_text())["stamps"])  # then the verdict
    arm, end = moving[:shown], moving[-1]
    count = round(MOVE_S * RATE)
    for i in range(count):
        yield arm[i * (len(arm) - 1) // (count - 1)].resize(SIZE), 1 / RATE
    yield end.resize(SIZE), TEXT_S


def _said(picture: Image.Image, lines: list[str]) -> Image.Image:
    """The picture, filling the frame, with lines of text below."""
    scale = max(SIZE[0] / picture.width, SIZE[1] / picture.height)
    large = picture.resize((round(scale * picture.width), round(scale * picture.height)))
    left, top = (large.width - SIZE[0]) // 2, (large.height - SIZE[1]) // 2
    shown = large.crop((left, top, left + SIZE[0], top + SIZE[1]))
    draw, font = ImageDraw.Draw(shown, "RGBA"), ImageFont.load_default(16)
    draw.rectangle((0, SIZE[1] - 22 * len(lines) - 12, *SIZE), (20, 24, 32, 225))
    for i, line in enumerate(reversed(lines)):
        colour = "#9db7ea" if i == len(lines) - 1 else "white"
        draw.text((12, SIZE[1] - 22 * (i + 1) - 8), line, colour, font)
    return shown


def main(run: Path, out: Path = Path("docs/images/stack_04.gif")) -> None:
    """Write the animation of a run, or its last picture."""
    if out.suffix == ".jpg":
        with av.open(str(run / "video.mp4")) as video:
            *_, last = video.decode(video=0)
        last.to_image().resize((640, 360)).save(out, quality=82, optimize=True)
        return
    pictures, seconds = zip(*frames(run), strict=True)
    together = Image.new("RGB", (SIZE[0], 3 * SIZE[1]))
    for i, picture in enumerate((pictures[0], pictures[1], pictures[-1])):
        together.paste(picture, (0, i * SIZE[1]))
    colours = together.quantize(200, Quantize.MEDIANCUT)
    drawn = [p.quantize(palette=colours, dither=Image.Dither.NONE) for p in pictures]
    durations = [round(1000 * s) for s in seconds]
    drawn[0].save(out, save_all=True, append_images=drawn[1:], duration=durations, loop=0, optimize=True)
    size = out.stat().st_size
    print(f"{out}: {sum(seconds):.1f} s, {size / 1e6:.2f} MB")
    if size > MOST:
        raise SystemExit("too large: fewer pictures or colours")


if __name__ == "__main__":
    if len(sys.argv) not in (2, 3):
        raise SystemExit(__doc__)
    main(*map(Path, sys.argv[1:]))
