"""Files that people write: what is in them, or one line that says what is wrong where."""

from pathlib import Path

import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st
from pydantic import ValidationError

from spca_core.errors import InputError
from spca_core.model import Record
from spca_core.validation import MOST_COMPLAINTS, first_problem, problems, read_yaml

KEYS = st.text(st.characters(categories=("Ll",)), min_size=1, max_size=4)
PLAIN = st.recursive(
    st.none() | st.booleans() | st.integers() | KEYS,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(KEYS, inner, max_size=3),
)


def laughs(of: str) -> str:
    """A billion values in some hundred bytes: each of nine lines has the one above ten times."""
    lines = [f"a{k}: &a{k} {of.format(', '.join([f'*a{k - 1}'] * 10))}" for k in range(1, 10)]
    return "\n".join(["a0: &a0 {y: 1}", *lines])


@given(content=PLAIN)
def test_what_was_written_is_read(content: object, tmp_path_factory: pytest.TempPathFactory) -> None:
    path = tmp_path_factory.mktemp("yaml") / "file.yaml"
    path.write_text(yaml.safe_dump(content), encoding="utf-8")
    assert read_yaml(path, "it") == content


@pytest.mark.parametrize(
    ("text", "fault"),
    [
        ("a: 1\na: 2\n", "the key 'a' is there twice"),
        ("outer: {b: 1, c: 2, b: 1}", "the key 'b' is there twice"),
        ("a: [1, 2", "expected ',' or ']'"),
        ("on: 2026-02-30", "day"),
        ("[" * 1_000_000 + "]" * 1_000_000, "nested more than 100 levels deep"),
        ("- " * 3000, "line 1, column 201"),
        ("a: !!python/object:os.system x", "could not determine a constructor"),
        (laughs("[{}]"), "more than 100000 values"),
        (laughs("{{x: 1, <<: [{}]}}"), "more than 100000 values"),
        ("a: &a [*a]", "more than 100000 values"),
        ("a: *nowhere", "line 1, column 4"),
        ("a: \x00", "control characters are not allowed"),
        ("{[1, 2]: 3}", "unhashable key"),
        ("a: 1\n---\nb: 2\n", "but found another document"),
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


def test_merged_keys_may_be_overwritten(tmp_path: Path) -> None:
    path = tmp_path / "file.yaml"
    path.write_text("base: &base {a: 1, b: 2}\nmine: {<<: *base, b: 3}\n")
    assert read_yaml(path, "it")["mine"] == {"a": 1, "b": 3}


def test_what_cannot_be_read(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"cannot read the level .*: No such file"):
        read_yaml(tmp_path / "none.yaml", "the level")
    (tmp_path / "latin.yaml").write_bytes("title: grün".encode("latin-1"))
    with pytest.raises(InputError, match="not valid YAML"):
        read_yaml(tmp_path / "latin.yaml", "the level")


def test_what_is_wrong_a_thousand_times_is_told_at_once() -> None:
    class Note(Record):
        title: str

    with pytest.raises(ValidationError) as caught:
        Note.model_validate({f"k{n}": n for n in range(50_000)})
    assert first_problem(caught.value) == "title: is missing (and 50000 more)"
    assert len(problems(caught.value)) == MOST_COMPLAINTS
