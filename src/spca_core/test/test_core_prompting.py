"""What is read in a model's answer, however long and strange it is: in a time that grows with its length."""

import pytest

from spca_core.prompting import PYTHON, fenced


@pytest.mark.parametrize(
    "text", ["```json\n" * 200_000, "```" + " " * 1_900_000 + "x", "~~~\nx\n````\nx\n```\n" * 100_000]
)
def test_fences_without_end(text: str) -> None:
    assert len(fenced(text)) <= 100_000


@pytest.mark.parametrize(
    ("text", "blocks"),
    [
        ("```python\na\n```\n~~~\nb~~~ \n", ["a\n", "b"]),
        ("````\n```\nx\n```\n````", ["```\nx\n```\n"]),
        ("```json\n{}\n```\r\n```\r\na\r\n```", ["a\n"]),
        ("```python\ncut off", []),
    ],
)
def test_blocks(text: str, blocks: list[str]) -> None:
    assert fenced(text, PYTHON) == blocks
