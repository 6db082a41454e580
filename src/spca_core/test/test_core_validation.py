"""Files that people write: what is in them, or one line that says what is wrong where."""

from pathlib import Path

import pytest
from pydantic import ValidationError

from spca_core.errors import InputError
from spca_core.model import Record
from spca_core.validation import MOST_COMPLAINTS, first_problem, problems, read_yaml


def laughs(of: str) -> str:
    """A billion values in some hundred bytes: each of nine lines has the one above ten times."""
    lines = [f"a{k}: &a{k} {of.format(', '.join([f'*a{k - 1}'] * 10))}" for k in range(1, 10)]
    return "\n".join(["a0: &a0 {y: 1}", *lines])


@pytest.mark.parametrize(
    ("text", "fault"),
    [
        ("a: 1\na: 2\n", "the key 'a' is there twice"),
        ("[" * 1_000_000 + "]" * 1_000_000, "nested more than 100 levels deep"),
        ("a: !!python/object:os.system x", "could not determine a constructor"),
        (laughs("{{x: 1, <<: [{}]}}"), "more than 100000 values"),
        ("a: &a [*a]", "more than 100000 values"),
        ("a: \x00", "control characters are not allowed"),
    ],
)
def test_faults_are_told_in_one_line(text: str, fault: str, tmp_path: Path) -> None:
    path = tmp_path / "file.yaml"
    path.write_text(text)
    with pytest.raises(InputError) as error:
        read_yaml(path, "the level")
    assert str(error.value).startswith(f"not valid YAML ({path}): ")
    assert fault in str(error.value)
    assert "\n" not in str(error.value)


def test_what_is_wrong_a_thousand_times_is_told_at_once() -> None:
    class Note(Record):
        title: str

    with pytest.raises(ValidationError) as caught:
        Note.model_validate({f"k{n}": n for n in range(50_000)})
    assert first_problem(caught.value) == "title: is missing (and 50000 more)"
    assert len(problems(caught.value)) == MOST_COMPLAINTS
