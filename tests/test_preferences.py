"""Preferences: what each layer says is what holds; a mistake is named and never guessed over."""

from __future__ import annotations

import json
from pathlib import Path
from threading import Thread

import pytest
from cli_vault import Cli, cli_in

import holdfast
from holdfast.core.preference_table import BY_NAME, TABLE
from holdfast.core.preferences import PRESETS, Layer, resolve, schema
from holdfast.engine.preferences import Preferences
from holdfast.errors import InvalidInput
from holdfast.testing import raises

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

FILE = Path("preferences") / "memory.json"


@pytest.fixture
def cli(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Cli:
    return cli_in(tmp_path, monkeypatch)


def written(vault: Path, document: object) -> None:
    file = vault / FILE
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(document if isinstance(document, str) else json.dumps(document))


@pytest.mark.row("G12", "G13")
def test_each_layer_wins_over_the_weaker(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def held() -> tuple[Any, str]:
        with holdfast.open(tmp_path) as vault:
            setting = vault.space().settings().each["recall.limit"]
            return setting.value, setting.source

    assert held() == (8, "built in")
    written(tmp_path, {"preset": "strict"})
    assert held() == (8, f"preset strict ({tmp_path / FILE})")
    written(tmp_path, {"recall": {"limit": 9}})
    assert held() == (9, str(tmp_path / FILE))
    spaces: dict[str, Any] = {"default": {"recall": {"limit": 10}}, "other": {}}
    written(tmp_path, {"recall": {"limit": 9}, "spaces": spaces})
    assert held() == (10, f"{tmp_path / FILE}: spaces.default")
    monkeypatch.setenv("HOLDFAST_PREFERENCES", '{"recall": {"limit": 11}}')
    assert held() == (11, "HOLDFAST_PREFERENCES")
    with holdfast.open(tmp_path) as vault:
        called = vault.space().preferring({"recall.limit": 12})
        assert called.settings().each["recall.limit"].source == "call"
        assert called.settings().whole("recall.limit") == 12
        assert vault.space().settings().whole("recall.limit") == 11


@pytest.mark.row("G12")
@pytest.mark.parametrize("preset", PRESETS)
def test_a_preset_sets_every_preference_and_single_ones_stay_on_top(preset: str) -> None:
    layer = Layer(source="file", preset=preset, values={"recall.limit": 33})
    settings = resolve(TABLE, [layer])
    assert (settings.preset, settings.preset_source) == (preset, "file")
    for one in TABLE:
        expected = 33 if one.name == "recall.limit" else one.in_preset(preset)
        assert settings.each[one.name].value == expected
        assert one.accepts(one.in_preset(preset)), f"{one.name} takes what {preset} says"


@pytest.mark.row("G13")
def test_a_running_vault_reads_the_file_again_when_it_changes(tmp_path: Path) -> None:
    with holdfast.open(tmp_path) as vault:
        space = vault.space()
        assert space.settings().word("disclosure.depth") == "index"
        written(tmp_path, {"disclosure": {"depth": "full"}})
        assert space.settings().word("disclosure.depth") == "full"
        (tmp_path / FILE).unlink()
        assert space.settings().word("disclosure.depth") == "index"


@pytest.mark.row("G13")
@pytest.mark.parametrize(
    ("document", "says"),
    [
        ({"recall": {"limit": 900}}, "recall.limit: 900 is not a whole number from 1 to 50"),
        ({"recall": {"limit": True}}, "recall.limit: true is not a whole number from 1 to 50"),
        ({"recall": {"limit": "8"}}, 'recall.limit: "8" is not a whole number from 1 to 50'),
        ({"recall": {"limti": 8}}, "there is no preference 'recall.limti'"),
        ({"recal": {"limit": 8}}, "there is no preference 'recal'"),
        ({"recall": 8}, "recall: this is no object"),
        ([], "this is no object"),
        ({"preset": "loose"}, 'preset: there is no preset "loose"'),
        ({"preset": 3}, "preset: there is no preset 3"),
        ({"disclosure": {"depth": "deep"}}, 'disclosure.depth: "deep" is not one of index'),
        ({"promotion": {"origins": ["user", "user"]}}, "promotion.origins: "),
        ({"spaces": []}, "spaces: this is no object"),
        ({"spaces": {"app": {"recall": {"limit": 0}}}}, "spaces.app: recall.limit: 0 is not"),
        ('{"recall": {"limit": 8}, "recall": {}}', "'recall' stands twice"),
        ('{"recall": {"limit": 8,}}', "line 1, column"),
        ("[" * 100_000, "it nests too deeply"),
        (" " * 300_000, "is larger than 262,144 bytes"),
    ],
    ids=lambda each: str(each)[:30],
)
def test_a_mistake_is_named_by_field_with_its_cure(
    tmp_path: Path, document: object, says: str
) -> None:
    written(tmp_path, document)
    with holdfast.open(tmp_path) as vault, pytest.raises(InvalidInput) as caught:
        vault.space().settings()
    assert caught.value.code == "preference_invalid"
    assert says in caught.value.message
    assert str(tmp_path / FILE) in caught.value.message
    assert caught.value.hint


def test_half_a_character_and_what_is_no_text_are_mistakes(tmp_path: Path) -> None:
    (tmp_path / "preferences").mkdir()
    (tmp_path / FILE).write_bytes(b'{"recall": "\xff"}')
    with holdfast.open(tmp_path) as vault, raises(InvalidInput, "preference_invalid"):
        vault.space().settings()


@pytest.mark.row("G13")
def test_what_is_set_is_checked_before_it_is_written(tmp_path: Path) -> None:
    with holdfast.open(tmp_path) as vault:
        vault.prefer({"recall.limit": 9})
        before = (tmp_path / FILE).read_text()
        for name, value in (("recall.limit", 0), ("recall.limti", 8), ("recall.limit", "9")):
            with raises(InvalidInput, "preference_invalid"):
                vault.prefer({name: value})
        with raises(InvalidInput, "preference_invalid"):
            vault.prefer({}, preset="loose")
        assert (tmp_path / FILE).read_text() == before
        vault.prefer({"recall.limit": None})
        assert json.loads((tmp_path / FILE).read_text()) == {}


def test_writers_take_turns_and_none_is_lost(tmp_path: Path) -> None:
    file = tmp_path / FILE
    names = [one.name for one in TABLE if one.kind == "whole"]

    def work(name: str) -> None:
        Preferences(file).change({name: BY_NAME[name].high}, space=None)

    threads = [Thread(target=work, args=(name,)) for name in names]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    settings = Preferences(file).settings("default")
    assert {name: settings.whole(name) for name in names} == {
        name: BY_NAME[name].high for name in names
    }
    assert [each.name for each in file.parent.iterdir()] == ["memory.json"]


def test_a_vault_in_ram_keeps_them_in_ram() -> None:
    with holdfast.open("memory:") as vault:
        vault.prefer({"recall.limit": 9}, preset="strict")
        settings = vault.space().settings()
        assert (settings.preset, settings.whole("recall.limit")) == ("strict", 9)
    with holdfast.open("memory:") as vault:
        assert vault.space().settings().preset == "balanced"


@pytest.mark.row("G13")
def test_the_command_line_says_where_each_comes_from(cli: Cli) -> None:
    assert cli("preferences", "preset", "strict").stderr == "The preset is strict\n"
    assert cli("preferences", "set", "recall.limit", "9", "--here").exit == 0
    shown = {row["name"]: row for row in cli.json("preferences", "show")}
    assert list(shown) == [one.name for one in TABLE]
    assert (shown["recall.limit"]["value"], shown["promotion.support"]["value"]) == (9, 2)
    file = cli.vault / FILE
    assert shown["recall.limit"]["source"] == f"{file}: spaces.default"
    assert shown["promotion.support"]["source"] == f"preset strict ({file})"
    assert cli("preferences", "set", "recall.limit", "--here").stderr == "Took recall.limit back\n"
    assert cli.json("preferences", "show", "recall.limit")[0]["source"].startswith("preset strict")
    assert cli.refuses("preferences", "set", "recall.limit", "many") == "preference_invalid"
    assert cli.refuses("preferences", "set", "recall.limti", "8") == "preference_unknown"
    assert cli.refuses("preferences", "show", "recall.limti") == "preference_unknown"


@pytest.mark.parametrize(
    ("name", "typed", "value"),
    [
        ("recall.block", "off", False),
        ("recall.block", "true", True),
        ("recall.limit", "12", 12),
        ("disclosure.depth", "full", "full"),
        ("promotion.origins", "user, agent", ["user", "agent"]),
    ],
)
def test_what_is_typed_becomes_the_value(cli: Cli, name: str, typed: str, value: object) -> None:
    assert cli("preferences", "set", name, typed).exit == 0
    assert cli.json("preferences", "show", name)[0]["value"] == value


@pytest.mark.row("G13")
def test_the_schema_is_that_of_the_page(cli: Cli) -> None:
    page = Path(__file__).parent.parent / "docs" / "reference" / "preferences.schema.json"
    assert (
        json.loads(page.read_text()) == schema(TABLE) == cli.json("preferences", "show", "--schema")
    )
