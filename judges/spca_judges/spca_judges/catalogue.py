"""Catalogue of the judges: what each needs, and whether it is installed."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from spca_core.errors import InputError, one_of
from spca_core.paths import ROOT, as_typed

_LOCKS = Path(__file__).parent / "locks"


@dataclass(frozen=True)
class Judge:
    """One judge.

    `bench` is the command that runs it, `source` where it is from, `given` what its user brings. `package` is
    the pinned distribution that it is, where it needs an interpreter of its own; `system` are Debian packages
    that this one needs. `settings` says what was observed and given, `others` who has which figures, and
    where these are from; both are for the page.
    """

    name: str
    title: str
    bench: str
    source: str
    given: str = ""
    package: str = ""
    system: str = ""
    settings: str = ""
    others: tuple[tuple[str, str, str], ...] = ()

    @property
    def lock(self) -> Path:
        """The pinned and hashed requirements of its interpreter."""
        return _LOCKS / f"{self.name}.txt"

    @property
    def folder(self) -> Path:
        """The folder of its interpreter."""
        return ROOT / f".venv-judge-{self.name}"

    @property
    def python(self) -> Path:
        """Its interpreter."""
        return self.folder / "bin" / "python"

    @property
    def stamp(self) -> Path:
        """Holds the requirements that were installed."""
        return self.folder / "installed.txt"

    @property
    def state(self) -> str:
        """Its state, in the words of `spca judge list`."""
        if not self.package:
            return "nothing to install"
        if not self.stamp.is_file():
            return f"not installed: {as_typed(f'judge install {self.name}')}"
        if self.stamp.read_text() != self.lock.read_text():
            return f"another version is installed: {as_typed(f'judge install {self.name}')}"
        return "installed"

    def check(self) -> None:
        """Raise InputError unless it can be run."""
        if self.state not in ("nothing to install", "installed"):
            what, _, hint = self.state.partition(": ")
            raise InputError(f"{self.title}: {what}", hint=hint)


JUDGES = {
    judge.name: judge
    for judge in (
        Judge(
            "mbm",
            "MotionBenchMaker, UR5",
            "spca bench mbm --problems FILE",
            "KavrakiLab/vamp, resources/ur5/problems.tar.bz2",
            "the archive or folder of problems",
            settings="Scenes are boxes and cylinders, exact; one core; the stack's clearances are kept.",
            others=(
                (
                    "VAMP",
                    "608 of the 608 that it counts as valid; median 0.11 ms, 95 % 0.84 ms (Ryzen 7950X)",
                    "its repository",
                ),
            ),
        ),
        Judge(
            "acpbench",
            "ACPBench-Hard",
            "spca bench acpbench --questions FOLDER",
            "github IBM/ACPBench",
            "a checkout",
            settings=(
                "The PDDL is given, no model is asked; language models get the same questions as text. "
                "The evaluator takes only the landmarks that the data set lists; *proven* is what Fast "
                "Downward or the semantics confirm."
            ),
            others=(("language models", "most below 65 %", "ACPBench-Hard's paper"),),
        ),
        Judge(
            "ipc",
            "Planning competitions",
            "spca bench ipc --domains FOLDER",
            "github AI-Planning/classical-domains",
            "a checkout",
            settings=(
                "The PDDL reader alone. *The same*: Fast Downward's reader finds the same objects, "
                "actions and initial facts, or refuses the file, too. Limits are those for a model's "
                "drafts. Verdicts (`--val FILE`): Fast Downward's first plan (found in 3 s, at most 60 "
                "steps), and the same plan without its first, middle or last step."
            ),
        ),
        Judge(
            "boxoban",
            "Boxoban",
            "spca bench boxoban --levels FOLDER --rules RUN",
            "github google-deepmind/boxoban-levels",
            "a checkout, and a run of `spca learn sokoban --boxes 4 --size 10`",
            settings=(
                "The rules are a program learned by the built-in synthesizer from levels of our own, 4 "
                "boxes in 10 × 10 cells. Plans by Fast Downward in these rules, at most a minute of "
                "processor time, carried out by our Sokoban, as the set has no game. Wall time on a busy "
                "machine."
            ),
            others=(
                (
                    "A* in the true rules, a million nodes",
                    "989 of the 1,000 of unfiltered/test",
                    "AlignmentResearch/boxoban-astar-solutions",
                ),
            ),
        ),
        Judge(
            "planetarium",
            "Planetarium",
            "spca bench planetarium --data FILE --llm FILE",
            "github BatsResearch/planetarium",
            "the database that its dataset_generator.py makes, and a chat model",
            settings=(
                "A chat model writes the PDDL problem for a text; the wording of the question is ours. "
                "*Parseable*: PDDL with known objects. *Solvable*: reader, Fast Downward and both "
                "validators accept it. *Correct*: as Planetarium defines it. Critics and repair see only "
                "the draft. A careful reader of the questions took the model's place, wrote long lists of"
                " facts by a script and knew parts of the set's generator. Of the five that are not "
                "correct, the text leaves out the robot's place in three and contradicts the set in one; "
                "one is the reader's fault."
            ),
            others=(("GPT-4o", "96.1 % parseable, 94.4 % solvable, 24.8 % correct", "its paper"),),
        ),
        Judge(
            "planbench",
            "PlanBench",
            "spca bench planbench --repository FOLDER [--llm FILE]",
            "github karthikv792/LLMs-Planning",
            "a checkout, and a chat model for new answers",
            settings=(
                "Task 1, plans in words. *Parseable*: there are steps. *Solvable*: every step can be "
                "done. *Correct*: a plan by both validators; published verdicts are VAL's. Published "
                "answers are judged from the plans that the authors read in them, without files that have"
                " no verdict or tasks that have no plan. *Other verdicts*: judged otherwise here (five "
                "have fences or sentences around the plan). *As marked*: only what the answer marks by "
                "[PLAN]. A careful reader took the model's place."
            ),
            others=(
                ("o1-preview", "97.8 % Blocksworld, 52.8 % Mystery (zero shot)", "PlanBench's authors"),
                ("DeepSeek R1", "99.1 % Blocksworld, 54.1 % Mystery (zero shot)", "PlanBench's authors"),
            ),
        ),
        Judge(
            "robosuite",
            "robosuite",
            "spca bench robosuite",
            "robosuite 1.5.2 from PyPI",
            package="robosuite==1.5.2",
            system="libegl1 libgl1-mesa-dri",
            settings=(
                "Observed: pixels with depth of the camera `birdview`, 1600 × 1200, no noise, its "
                "calibration, joint states; no poses. Given: arm, table, colours and approximate sizes of"
                " the cubes; for PickPlace the bins, and of each product its size, kind and a word for "
                "its colour, by which its compartment is called, too. Built-in proposer and skills. UR5e,"
                " or the Panda where a row says so, both with the Robotiq 85; robosuite's joint "
                "controller at 20 Hz, fingers by its position servos. Solved: robosuite's rule holds "
                "after a second at rest, within 50 simulated seconds. Reported layouts are 1000 and "
                "above, lower ones were for development; four of PickPlace's were seen while a fault was "
                "mended. StackThree is Stack with a third cube, by the same rule. NutAssembly and Door "
                "are refused: there are no words, kinds or skills for nuts, pegs and doors."
            ),
            others=(
                ("CoPiC", "Lift 100, Pick-and-Place 96.67, Stack-Three 91.67 (RGB, 3 × 20)", "Table 13"),
                ("GPT-3.5 as the planner", "Lift 78.33, Stack-Three-Cubes 48.33", "CoPiC's Table 13"),
                ("CaP-X (Panda)", "lift .99, stack .90 with state; stack with perception .50", "its paper"),
            ),
        ),
        Judge(
            "cliport",
            "CLIPort",
            "spca bench cliport --repository FOLDER",
            "github cliport/cliport, revision 2be5c47",
            "a checkout",
            package="pybullet==3.2.7",
            settings=(
                "Observed: pixels with depth of its three cameras, 640 × 480, no noise, fused into one "
                "view from above and painted with the hue of the nearest of its eleven colours; no poses. "
                "An action is a pose to pick and one to place, with its suction gripper. Given: colours, "
                "shades and words, where the table is; that its box is a tray with walls of 2 mm that "
                "stays and has room for all its blocks; for rings, that holes are filled, rods removed and "
                "fields taken for mats; that no block is too wide for suction, and that a colour without a "
                "block is none to pack. No sizes of blocks: the first look shows them. No demonstrations. "
                "Built-in grammar and planner. Episodes are its test seeds (every second one from 10001), "
                "also where its own demonstrator fails; pictures of 10011 and 10015 were looked at during "
                "development. Limits of wall time count physics steps. Score: CLIPort's, in percent. "
                "Points lost *to words*: the grammar cannot say it; *to sight*: no plan on what was seen."
            ),
            others=(
                (
                    "CLIPort, unseen colours (learned from demonstrations)",
                    "put-block-in-bowl 75.7, stack-block-pyramid-seq 79.8, packing-boxes-pairs 80.3",
                    "its paper, best model",
                ),
                ("CLIPort, seen colours", "98 to 100", "its paper, best model"),
            ),
        ),
    )
}


def find(name: str) -> Judge:
    """The judge of that name. Raises InputError."""
    if name not in JUDGES:
        raise InputError(f"there is no judge '{name}'", hint=one_of(name, JUDGES))
    return JUDGES[name]
