"""Records, totals and budgets."""

from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from spca_core.errors import BudgetExhausted, InputError
from spca_core.ports.chat import Role
from spca_core.prompting import user
from spca_llm.chat import Chat
from spca_llm.client import OpenAISource
from spca_llm.config import Budget, LlmConfig, ModelConfig, Price, PriceTable
from spca_llm.exchange import Answer, Exchange, ExchangeLog, Request, read_exchange, set_aside


def exchange(role: Role = "coder", tokens: int = 100, usd: float = 0.1, text: str = "hi") -> Exchange:
    request = Request.of(role, [user("hello")], None)
    answer = Answer(text=text, input_tokens=tokens - 10, output_tokens=10, usd=usd)
    return Exchange(started="", request=request, digest=request.digest, model="m", answer=answer, seconds=2.0)


def test_a_ledger_is_set_aside_and_its_cost_told_once(tmp_path: Path):
    for time in (0, 1):
        ledger = ExchangeLog(tmp_path / "llm")
        ledger.add(exchange("coder"))
        ledger.add(exchange("vision", usd=0.2))
        assert set_aside(tmp_path / "llm", tmp_path / "aside") == pytest.approx(0.3)
        assert set_aside(tmp_path / "llm", tmp_path / "aside") == 0.0
        assert len(list((tmp_path / "aside" / str(time)).iterdir())) == 2


def test_ledgers_of_several_processes_share_a_folder(tmp_path: Path):
    ledgers = [ExchangeLog(tmp_path) for _ in range(4)]
    with ThreadPoolExecutor(4) as pool:
        list(pool.map(lambda ledger: [ledger.add(exchange()) for _ in range(10)], ledgers))
    assert len(list(tmp_path.glob("*.json"))) == 40
    assert all(ledger.totals()["coder"].calls == 40 for ledger in ledgers)


@pytest.mark.parametrize(
    ("budget", "words"),
    [(Budget(tokens=150), "150 tokens"), (Budget(usd=0.15), "0.15 US dollars"), (Budget(seconds=10), "10 s")],
)
def test_each_limit_ends_the_level_and_a_resumed_one_goes_on_counting(
    tmp_path: Path, budget: Budget, words: str
):
    now = [0.0]
    ExchangeLog(tmp_path).add(exchange())
    ledger = ExchangeLog(tmp_path, budget, clock=lambda: now[0])
    ledger.check()
    ledger.add(exchange())
    now[0] = 10.0
    with pytest.raises(BudgetExhausted, match=words):
        ledger.check()
    assert ledger.totals()["coder"].calls == 2
    with pytest.raises(BudgetExhausted):  # before the source, which here is none, is asked
        Chat(None, ledger).complete("coder", [user("hello")])  # type: ignore[arg-type]


def test_secrets_are_blotted_out_even_escaped(tmp_path: Path):
    ledger = ExchangeLog(tmp_path, secrets=['se"cret\\'])
    path = ledger.add(exchange(text='it is se"cret\\ !'))
    assert read_exchange(path).answer.text == "it is [key] !"


def test_a_budget_in_dollars_needs_a_price():
    model = ModelConfig(model="mystery", base_url="https://example.org/v1")
    source = OpenAISource(LlmConfig(roles={"coder": model}, budget=Budget(usd=1)), env={})
    with pytest.raises(InputError, match="no price for model 'mystery'"):
        source.preflight(["coder"])


def test_only_servers_elsewhere_cost_money():
    table = PriceTable({"m": Price(input=1.0, output=2.0)})
    answer = Answer(text="", input_tokens=1_000_000, output_tokens=1_000_000)
    for url, expected in (("http://127.0.0.1:1/v1", 0.0), ("https://example.org/v1", 3.0)):
        model = ModelConfig(model="m", base_url=url)
        source = OpenAISource(LlmConfig(roles={"coder": model}), table, env={})
        priced = source._priced(answer, model)
        assert priced.usd == pytest.approx(expected) and priced.priced
        unknown = OpenAISource(LlmConfig(roles={"coder": model}), PriceTable({}), env={})
        assert unknown._priced(answer, model).priced is model.is_local
