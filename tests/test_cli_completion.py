from __future__ import annotations

import os
import shlex
import shutil
import subprocess

import pytest
from cli_snapshot import command, environment, run, run_inside

TYPE_CHECKING = False
if TYPE_CHECKING:
    from pathlib import Path

SAMPLE = "cli_sample:TABLE"


def answers(*words: str, env: dict[str, str] | None = None) -> list[str]:
    result = run_inside(["--complete", *words], table=SAMPLE, env=env)
    assert (result.exit, result.stderr) == (0, "")
    return result.stdout.splitlines()


@pytest.mark.parametrize(
    ("words", "candidates"),
    [
        (["no"], ["note\tterse entries"]),
        (["--space", "a", "me"], ["memory\tfiles that an agent keeps"]),
        (["note", ""], ["save\tsave an entry", "read\tread the newest entries"]),
        (["notes", "s"], ["save\tsave an entry"]),
        (["run", "l"], ["list\tlist the runs"]),
        (["run", "scribe", "l"], []),
        (["note", "read", "--li"], ["--limit\thow many"]),
        (["note", "save", "--rea"], ["--reason\twhy, for the log"]),
        (["note", "read", "--rea"], []),
        (["run", "--me"], ["--memory\tthe memory to mount"]),
        (["note", "read", "--order", ""], ["newest", "oldest"]),
        (["note", "read", "--order=o"], ["--order=oldest"]),
        (["note", "read", "--since", ""], []),
        (["note", "read", "--full", "d"], ["decisions\tin default", "diary"]),
        (["note", "read", "bad"], []),
        (["note", "read", "--space", "team", "de"], ["decisions\tin team"]),
        (["memory", "push", "src"], [":folders"]),
        (["memory", "push", "--from-file", ""], [":files"]),
        (["memory", "push", "--from-file=a/"], [":files"]),
        (["agent", "add", "a", "--", "--"], []),
        (["completion", ""], ["bash", "zsh", "fish"]),
        (["help", "no"], ["note\tterse entries"]),
        (["help", "note", "s"], ["save\tsave an entry"]),
        (["help", "note", "save", ""], []),
    ],
)
def test_what_could_come_next(words: list[str], candidates: list[str]) -> None:
    assert answers(*words) == candidates


def test_at_the_start_every_noun_could_come() -> None:
    names = [line.partition("\t")[0] for line in answers()]
    assert names[0] == "note"
    assert names[-3:] == ["completion", "help", "version"]
    assert names == [line.partition("\t")[0] for line in answers("")]


def test_candidates_know_what_was_said_and_what_the_environment_says() -> None:
    assert answers("note", "read", "de", env={"HOLDFAST_SPACE": "env"}) == ["decisions\tin env"]
    assert answers("note", "--space=said", "save", "de") == ["decisions\tin said"]


@pytest.mark.parametrize(
    "words",
    [
        ["nope", ""],
        ["note", "nope", ""],
        ["note", "read", "--nope", ""],
        ["note", "read", "--limit", "x", "--as-of", "y", ""],
        ["note", "read", "a\udcff", "b\udcff"],
        ["note", "read", "--full=", ""],
        ["kv", "set", "k", "-", ""],
    ],
)
def test_what_is_wrong_so_far_has_no_answers_and_no_words(words: list[str]) -> None:
    assert answers(*words) == []


# The shells themselves

CASES = [
    ("holdfast no", ["note"]),
    ("holdfast note ", ["read", "save"]),
    ("holdfast note read d", ["decisions", "diary"]),
    ("holdfast note read --ord", ["--order"]),
    ("holdfast --space 'a b' note re", ["read"]),
    ("holdfast memory push --from-file f", ["file one", "folder", "four"]),
    ("holdfast memory push f", ["folder"]),
    ("holdfast recall ", []),
]
GLUED = [
    ("holdfast note read --order=", ["newest", "oldest"]),
    ("holdfast note read --order=o", ["oldest"]),
    ("holdfast memory push --from-file=fo", ["folder", "four"]),
]


@pytest.fixture
def place(tmp_path: Path) -> Path:
    """A folder with some files, and with `holdfast` in its `bin`."""
    (tmp_path / "bin").mkdir()
    program = tmp_path / "bin" / "holdfast"
    program.write_text(f'#!/bin/sh\nexec {shlex.join(command([], SAMPLE))} "$@"\n')
    program.chmod(0o755)
    (tmp_path / "work" / "folder").mkdir(parents=True)
    (tmp_path / "work" / "file one").touch()
    (tmp_path / "work" / "four").touch()
    return tmp_path


def shell(place: Path, argv: list[str], script: str) -> list[str]:
    if shutil.which(argv[0]) is None:
        pytest.skip(f"{argv[0]} is not installed")
    env = {"PATH": f"{place / 'bin'}:{os.environ['PATH']}", "HOME": str(place), "TERM": "dumb"}
    env |= {name: os.environ[name] for name in ("LD_LIBRARY_PATH", "FPATH") if name in os.environ}
    done = subprocess.run(
        [*argv, script],
        env=environment(env),
        cwd=place / "work",
        capture_output=True,
        stdin=subprocess.DEVNULL,
        timeout=60,
    )
    assert done.stderr.decode() == ""
    return done.stdout.decode().splitlines()


BASH = """
eval "$(holdfast completion bash)"
complete_line() {
    COMP_LINE=$1 COMP_POINT=${#1}
    COMP_WORDS=("${@:2}")
    COMP_CWORD=$(( ${#COMP_WORDS[@]} - 1 ))
    _holdfast holdfast "${COMP_WORDS[COMP_CWORD]}" "${COMP_WORDS[COMP_CWORD - 1]}"
    (( ${#COMPREPLY[@]} )) && printf '%s\\n' "${COMPREPLY[@]}"
    true
}
"""


def bash_words(line: str) -> list[str]:
    """As bash splits them: at blanks outside quotes, and = is a word of its own."""
    words = [""]
    quoted = False
    for letter in line:
        quoted ^= letter == "'"
        if letter == " " and not quoted:
            words.append("")
        elif letter == "=":
            words.append("=")
        else:
            if words[-1] == "=":
                words.append("")
            words[-1] += letter
    return words


@pytest.mark.parametrize(("line", "candidates"), CASES + GLUED)
def test_bash_completes(line: str, candidates: list[str], place: Path) -> None:
    words = shlex.join([line, *bash_words(line)])
    assert sorted(shell(place, ["bash", "-c"], f"{BASH}complete_line {words}")) == candidates


@pytest.mark.parametrize(("line", "candidates"), CASES + GLUED)
def test_fish_completes(line: str, candidates: list[str], place: Path) -> None:
    glued = line.rpartition(" ")[2].partition("=")[0] + "=" if "=" in line else ""
    script = f"holdfast completion fish | source; complete -C {shlex.quote(line)}"
    found = [word.partition("\t")[0] for word in shell(place, ["fish", "-c"], script)]
    names = [word.rstrip("/").replace("\\ ", " ") for word in found]
    assert sorted(names) == [f"{glued}{candidate}" for candidate in candidates]


# What zsh's completion system offers, as far as the script uses it.
ZSH = r"""
compdef() { }
compset() { }
_describe() { print -rl -- "${(@)${(@P)2}%%:*}" }
_files() { [[ $1 == -/ ]] && print -rl -- *(/) || print -rl -- * }
eval "$(holdfast completion zsh)"
complete_line() { words=("$@") CURRENT=$#; _holdfast }
"""


@pytest.mark.parametrize(
    ("words", "candidates"),
    [
        (["no"], ["note"]),
        (["note", ""], ["save", "read"]),
        (["note", "read", "d"], ["decisions", "diary"]),
        (["--space", "'a b'", "note", "re"], ["read"]),
        (["note", "read", "--order=o"], ["--order=oldest"]),
        (["memory", "push", "--from-file", "f"], ["file one", "folder", "four"]),
        (["memory", "push", "f"], ["folder"]),
        (["recall", ""], []),
    ],
)
def test_zsh_completes(words: list[str], candidates: list[str], place: Path) -> None:
    script = f"{ZSH}complete_line holdfast {shlex.join(words)}"
    assert shell(place, ["zsh", "-f", "-c"], script) == candidates


def test_every_script_is_accepted_by_its_shell(place: Path) -> None:
    for name in ("bash", "zsh", "fish"):
        script = run(["completion", name]).stdout
        if shutil.which(name) is not None:
            path = place / name
            path.write_text(script)
            assert shell(place, [name, "-n"], str(path)) == []
