"""`holdfast kv`."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest
from cli_snapshot import HEAVY, Result, assert_light, run, run_inside

import holdfast

if TYPE_CHECKING:
    from pathlib import Path


class Cli:
    def __init__(self, vault: Path) -> None:
        self.env = {"HOLDFAST_VAULT": str(vault)}

    def __call__(self, *words: str, stdin: str = "") -> Result:
        return run_inside(words, stdin, self.env)

    def refuses(self, *words: str, stdin: str = "") -> tuple[int, str]:
        result = self(*words, "--json", stdin=stdin)
        return result.exit, json.loads(result.stderr)["error"]["code"]


@pytest.fixture
def vault(tmp_path: Path) -> Path:
    return tmp_path / "vault"


@pytest.fixture
def cli(vault: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Cli:
    monkeypatch.chdir(tmp_path)
    return Cli(vault)


@pytest.mark.row("C02", "C03")
def test_a_value_is_set_printed_listed_and_deleted(cli: Cli) -> None:
    done = cli("kv", "set", "user:1", '{"b": [1, null], "a": "é"}')
    assert done == Result(
        exit=0, stdout="", stderr="Set user:1 of default in default/keyvalue to revision 1\n"
    )
    assert cli("kv", "get", "user:1").stdout == '{"b": [1, null], "a": "é"}\n'
    assert json.loads(cli("kv", "get", "user:1", "--json").stdout) == {
        "key": "user:1",
        "value": {"b": [1, None], "a": "é"},
        "revision": "1",
        "expires_at": None,
    }
    cli("kv", "set", "user_1", "2")
    cli("kv", "set", "other", "3", "--namespace", "process/counter")
    assert cli("kv", "list").stdout == "user:1\nuser_1\n"
    assert cli("kv", "list", "user_").stdout == "user_1\n"
    assert json.loads(cli("kv", "list", "--json").stdout) == ["user:1", "user_1"]
    assert cli("kv", "get", "other", "-n", "process/counter").stdout == "3\n"
    assert cli("kv", "stats").stdout == (
        "NAMESPACE        VALUES  BYTES\n"
        "default               2     36\n"
        "process/counter       1      6\n"
    )
    assert json.loads(cli("kv", "stats", "--json").stdout)[1] == {
        "namespace": "process/counter",
        "entries": 1,
        "bytes": 6,
    }
    assert cli("kv", "delete", "user_1").exit == 0
    assert cli("kv", "list").stdout == "user:1\n"
    assert cli("kv", "clear", "--yes").stderr == "Removed 1 from default\n"
    assert cli("kv", "list") == Result(exit=0, stdout="", stderr="No keys in default\n")


@pytest.mark.row("C02")
def test_text_goes_in_and_out_as_it_is(cli: Cli) -> None:
    assert cli("kv", "set", "a", "--text", "{not json").exit == 0
    assert cli("kv", "get", "a", "--text").stdout == "{not json"
    assert cli("kv", "get", "a").stdout == '"{not json"\n'
    assert cli("kv", "set", "a", "-", stdin='{"from": "stdin"}\n').exit == 0
    assert cli("kv", "get", "a").stdout == '{"from": "stdin"}\n'
    assert cli.refuses("kv", "get", "a", "--text") == (1, "value_not_text")


@pytest.mark.row("C12")
def test_a_value_may_live_for_a_while(cli: Cli, vault: Path) -> None:
    assert cli("kv", "set", "a", "1", "--ttl", "1h30m").exit == 0
    with holdfast.open(vault) as opened:
        held = opened.space().kv().stored("a")
        assert held is not None
        assert held.expires_at is not None


@pytest.mark.row("C13")
def test_a_revision_that_is_expected_and_a_key_against_repeating(cli: Cli) -> None:
    cli("kv", "set", "a", "1")
    assert cli.refuses("kv", "set", "a", "2", "--expect", "7") == (1, "value_changed")
    assert cli("kv", "set", "a", "2", "--expect", "1").exit == 0
    assert cli.refuses("kv", "set", "a", "3", "--expect", "0") == (1, "value_changed")
    assert cli("kv", "set", "new", "1", "--expect", "0").exit == 0
    for _ in range(2):
        assert json.loads(cli("kv", "set", "b", "1", "--key", "k", "--json").stdout) == {
            "key": "b",
            "revision": "1",
        }
    assert cli.refuses("kv", "set", "b", "2", "--key", "k") == (1, "key_reused")


@pytest.mark.parametrize(
    ("words", "exit_code", "code"),
    [
        (["get", "none"], 1, "value_not_found"),
        (["delete", "none"], 1, "value_not_found"),
        (["set", "a", "hello"], 1, "value_not_json"),
        (["set", "a", "NaN"], 1, "value_not_json"),
        (["set", "a", '"\\ud800"'], 1, "value_not_json"),
        (["set", "a", "1", "--ttl", "0s"], 1, "ttl_invalid"),
        (["get", "a", "--store", "narrative"], 1, "store_not_declared"),
        (["get", "x" * 1025], 1, "key_too_long"),
        (["get", "a", "--as-of", "yesterday"], 2, "option_misplaced"),
        (["clear"], 1, "confirmation_needed"),
        (["get"], 2, "argument_missing"),
    ],
    ids=lambda part: " ".join(part)[:30] if isinstance(part, list) else "",
)
def test_what_cannot_be_is_refused_by_its_code(
    cli: Cli, words: list[str], exit_code: int, code: str
) -> None:
    cli("kv", "set", "there", "1")
    assert cli.refuses("kv", *words) == (exit_code, code)


def test_looking_at_what_nobody_has_made_leaves_nothing(cli: Cli, vault: Path) -> None:
    assert cli("kv", "list").exit == 0
    assert cli("kv", "stats") == Result(exit=0, stdout="", stderr="No values\n")
    assert cli.refuses("kv", "get", "a") == (1, "value_not_found")
    assert not vault.exists()


def test_completion_knows_stores_namespaces_and_keys(cli: Cli) -> None:
    cli("kv", "set", "user:1", "1")
    cli("kv", "set", "note", "1", "-n", "process/counter")
    assert cli("--complete", "kv", "get", "us").stdout == "user:1\n"
    assert cli("--complete", "kv", "get", "--namespace", "").stdout == "default\nprocess/counter\n"
    assert cli("--complete", "kv", "get", "--store", "").stdout == "keyvalue\n"


def test_hostile_text_reaches_a_person_escaped(cli: Cli) -> None:
    cli("kv", "set", "a\x1b[31m", '"\\u001b]0;title\\u0007"')
    assert cli("kv", "list").stdout == "a\\x1b[31m\n"
    assert "\x1b" not in cli("kv", "get", "a\x1b[31m").stdout
    assert "\x1b" not in run(["kv", "get", "a\x1b[31m"], env=cli.env).stdout


def test_printing_a_value_imports_nothing_heavy(cli: Cli, tmp_path: Path) -> None:
    cli("kv", "set", "a", "1")
    assert_light(["kv", "get", "a"], tmp_path, LIGHT, cli.env)


LIGHT = tuple(set(HEAVY) - {"apsw", "json", "re"})
