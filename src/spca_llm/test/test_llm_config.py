"""Configuration from file and environment, and the price table."""

from pathlib import Path

import pytest

from spca_core.errors import InputError
from spca_llm import is_configured
from spca_llm.config import OPENAI_URL, ROLES, ModelConfig, load_config, load_prices

FILE = Path(__file__).with_name("llm.yaml")


def test_defaults_then_roles():
    config = load_config(FILE, {})
    assert config.role("planner_big").base_url == "http://127.0.0.1:8000/v1"
    assert (config.role("planner_big").timeout_s, config.role("coder").timeout_s) == (30, 300)
    assert config.budget.tokens == 1000
    assert config.prices == FILE.parent / "my-prices.yaml"
    with pytest.raises(InputError, match="SPCA_LLM_VISION_MODEL"):
        config.role("vision")
    env = {"SPCA_LLM_CONFIG": str(FILE)}
    assert is_configured(env) and load_config(None, env) == config, "named by the environment"


def test_the_environment_wins():
    env = {"SPCA_LLM_MODEL": "all", "SPCA_LLM_CODER_MODEL": "mine"}
    config = load_config(FILE, env | {"SPCA_LLM_VISION_BASE_URL": "http://eyes/v1/"})
    expected = {**dict.fromkeys(ROLES, "all"), "coder": "mine"}
    assert {role: m.model for role, m in config.roles.items()} == expected
    assert config.role("vision").base_url == "http://eyes/v1"


def test_the_environment_alone_is_enough(monkeypatch: pytest.MonkeyPatch, tmp_path: Path):
    monkeypatch.setattr("spca_llm.DEFAULT_FILE", tmp_path / "none.yaml")
    env = {"SPCA_LLM_MODEL": "o4-mini"}
    assert is_configured(env)
    assert load_config(None, env).role("coder").base_url == OPENAI_URL
    assert not is_configured({"OPENAI_API_KEY": "sk"}), "a key alone is not a wish to spend it"


def test_the_example_in_the_readme_works(tmp_path: Path):
    text = (Path(__file__).parents[1] / "README.md").read_text()
    path = tmp_path / "llm.yaml"
    path.write_text(text.split("```yaml\n")[1].split("```")[0])
    config = load_config(path, {})
    assert config.role("coder").key_variable == "OPENAI_API_KEY"
    assert config.role("planner_big").is_local


@pytest.mark.parametrize(
    ("content", "words"),
    [
        ("roles: {planner_big: {modle: m}}", "modle: no such key; did you mean 'model'?"),
        ("roles: {coder: {model: m, base_url: 'localhost:8000'}}", "must be an http or https address"),
        ("roles: {coder: {model: m, base_url: 'http://me:secret@h/v1'}}", "a user name or a password"),
        ("budget: {tokens: -1}", "budget.tokens"),
    ],
)
def test_a_bad_file_gets_one_clear_line(tmp_path: Path, content: str, words: str):
    path = tmp_path / "bad.yaml"
    path.write_text(content)
    with pytest.raises(InputError) as error:
        load_config(path, {})
    assert words in str(error.value) and str(path) in str(error.value)
    assert "secret" not in str(error.value) and "\n" not in str(error.value)


def test_only_openai_gets_openai_s_key_unasked():
    here = ("http://127.0.0.1:1/v1", "http://localhost:11434/v1", "http://[::1]:8000/v1")
    assert all(ModelConfig(model="m", base_url=url).is_local for url in here)
    assert not any(
        ModelConfig(model="m", base_url=u).is_local for u in ("http://192.168.1.5:8000/v1", OPENAI_URL)
    )
    assert ModelConfig(model="m").key_variable == "OPENAI_API_KEY"
    assert ModelConfig(model="m", base_url="https://example.org/v1").key_variable is None
    assert ModelConfig(model="m", base_url="https://api.openai.com.evil.org/v1").key_variable is None
    assert ModelConfig(model="m", base_url="https://example.org/v1", api_key_env="X").key_variable == "X"


def test_prices_know_dated_names():
    table = load_prices()
    assert table.of("o3-2025-04-16") == table.of("o3") != table.of("o3-mini")
    assert table.of("unheard-of") is None
    price = table.of("gpt-4o-mini")
    assert price.cost(2_000_000, 1_000_000, 1_000_000) == pytest.approx(0.15 + 0.075 + 0.60)
