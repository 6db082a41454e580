"""Catalogue of the judges: what each needs, and whether it is installed."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from spca_core.errors import InputError
from spca_core.paths import ROOT

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
            return "ready"
        if not self.stamp.is_file():
            return f"not installed: spca judge install {self.name}"
        if self.stamp.read_text() != self.lock.read_text():
            return f"another version is installed: spca judge install {self.name}"
        return "installed"

    def check(self) -> None:
        """Raise InputError unless it can be run."""
        if self.state not in ("ready", "installed"):
            raise InputError(
                f"{self.title}: {self.state.partition(':')[0]}", hint=f"spca judge install {self.name}"
            )


JUDGES = {
    judge.name: judge
    for judge in (
        Judge(
            "mbm",
            "MotionBenchMaker, UR5",
            "spca bench mbm --problems FILE",
            "KavrakiLab/vamp, resources/ur5/problems.tar.bz2",
            "the archive or folder of problems",
            settings="Scenes as boxes and cylinders, exact; one core; the clearances of the stack are kept.",
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
                "PDDL is given; no model. Language models get the same questions with a text. The evaluator "
                "takes only landmarks that the data set lists, and nothing where it lists none; proven is "
                "what Fast Downward or the semantics confirm."
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
                "The reader alone, on files of the International Planning Competitions. The same: Fast "
                "Downward's reader finds the same objects with types, actions with parameters, and initial "
                "facts, or refuses the file, too. The limits are those for drafts of a model. Verdicts on "
                "plans (`--val FILE`): Fast Downward's first plan, if it is found in 3 s and has at most 60 "
                "steps, and the same without its first, middle or last step."
            ),
        ),
        Judge(
            "boxoban",
            "Boxoban",
            "spca bench boxoban --levels FOLDER --rules RUN",
            "github google-deepmind/boxoban-levels",
            "a checkout, and a run of `spca learn sokoban --boxes 4 --size 10`",
            settings=(
                "The rules are a program that the built-in synthesizer learned from levels that spca draws "
                "itself, 4 boxes in 10 × 10 cells; no model. Plans by Fast Downward in these rules, within a "
                "minute of processor time, then carried out by our Sokoban: the set has levels and no game. "
                "Seconds are of wall time, on a busy machine."
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
                "A chat model writes the PDDL problem for a text, in a given domain; our wording of the "
                "question. Parseable: PDDL with known objects. Solvable: reader, Fast Downward and both "
                "validators accept it. Correct: the same as the set's, as Planetarium defines it. Critics "
                "and repair see the draft only, never what would be correct. Asked here: a careful reader of "
                "the questions alone, who wrote long lists of facts by a script and knew parts of the set's "
                "generator. Not correct: three times the text does not say where the robot is, once it says "
                "otherwise than the set, once the reader left out that the other grippers stay free."
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
                "Plans in words, task 1 (a plan is to be made). Parseable: there are steps in it. Solvable: "
                "every step can be done. Correct: it is a plan by both of the stack's validators, where the "
                "published verdicts are VAL's. Published answers are judged from the plans that the set's "
                "authors read in them; files without verdicts, or of tasks that have no plan, are left out. "
                "Other verdicts: answers that are judged otherwise here than published (five have "
                "fences or sentences around the plan, which VAL does not read). Correct as marked: "
                "the same, but where an answer marks its plan by [PLAN], that alone is its plan. Asked here: "
                "a careful reader of the questions alone."
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
                "Pixels with depth of the judge's camera `birdview`, 1600 × 1200, no noise, its calibration "
                "and joint states; no poses. Given: arm, table, and a catalogue of coloured cubes of about "
                "which size; for PickPlace where the bins and their compartments are, and of the can, milk, "
                "bread and cereal the size, the kind (cylinder, cuboid) and a word for the colour, which "
                "the compartment that it belongs into is called by, too ('Put the red can in the red "
                "tray'): they are told apart by their measures in the depth image. Built-in proposer and "
                "skills; no model. The UR5e, or the Panda where a row says so, with robosuite's Robotiq 85, "
                "which is not the Panda's own gripper. Joint positions by robosuite's own controller at 20 "
                "Hz; the fingers by its position servos, not by open and close. Solved: its own rule holds "
                "at the end, after a second of standing still, within 50 simulated seconds. Layouts below "
                "1000 were for development, those reported are from 1000 on. StackThree is not in "
                "robosuite: its Stack with a third cube, by the same rule. PickPlace is all four things; "
                "the rows beside it are robosuite's environments of these names. Four of PickPlace's "
                "reported layouts were seen while a fault was mended: things side by side were seen as one. "
                "NutAssembly and Door are refused, as the stack has no words, kinds or skills for nuts, "
                "pegs and doors; only a few are tried."
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
                "Pixels with depth of the judge's three cameras, 640 × 480, no noise, and their "
                "calibration; no poses. An action is a pose to pick at and one to place at, with its "
                "suction gripper. The three views are fused into one from above, each pixel painted with "
                "the hue that stands for the nearest of CLIPort's eleven colours, because the detector "
                "tells colours by hue alone. Where a sentence names a shade or a side of its brown "
                "stands, what is brown and flat gets a hue by its brightness, and that hue's name is put "
                "for the phrase; the size of cubes is kept from the first look; blocks count as side by "
                "side up to 15 mm apart. Where it names a ring, holes are filled and rods taken out of "
                "the picture, round things are cylinders, the stand's fields are mats, a ring goes onto "
                "those that are on its field, and is held at its body. Given: these colours, shades and "
                "words, where the table is, and that its box is what the stack calls a tray; no sizes, no "
                "demonstrations. Built-in grammar and planner; no model. Its test seeds (every second one "
                "from 10001 on), those on which its own demonstrator fails included; lower ones were for "
                "development, but pictures of 10011 and 10015 were looked at. Its limits of wall time "
                "count steps of its physics instead. Score: CLIPort's own, in percent. Refused: the "
                "built-in grammar or the kinds of things have no way to say what is asked; the score is "
                "what was earned before. That is so for more than six blocks in a box, a colour that is "
                "named and not there, a box so full that it is not seen as one, and a field of a stand in "
                "shadow."
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
        raise InputError(f"there is no judge '{name}'", hint=f"one of {', '.join(JUDGES)}")
    return JUDGES[name]
