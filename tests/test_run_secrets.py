"""A secret reaches the agent, and no log, no memory, no version, no conversation and no error."""

from __future__ import annotations

import base64
import json
import os
import signal
import subprocess
import sys
from pathlib import Path
from urllib.parse import quote

import pytest
from cli_snapshot import command, environment
from hypothesis import given
from hypothesis import strategies as st
from run_sample import Bench, bench_in, memory_of, said_in

from holdfast.core.filling import filled, names_in, variables_in
from holdfast.core.masking import MASK, Masker, forms_of, masked, spans
from holdfast.errors import HoldfastError, InvalidInput
from holdfast.testing import raises

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

    from holdfast.engine.runs.execute import Task

SECRET = "s3cr3t/Value+9=="


@pytest.fixture
def bench(tmp_path: Path) -> Iterator[Bench]:
    bench = bench_in(tmp_path)
    bench.run("write:a.md:one")
    yield bench
    bench.sound()
    bench.vault.close()


def in_the_vault(bench: Bench) -> bytes:
    """Everything that the vault's folder holds, with what is packed unpacked."""
    found = [file.read_bytes() for file in (bench.folder / "vault").rglob("*") if file.is_file()]
    for kind in ("memory", "artifact"):
        directories = bench.space.directories(kind)
        for item in directories.list():
            for entry in directories.log(item.name, limit=100):
                where = bench.folder / f"all-{kind}-{item.name}-{entry.version.v}"
                directories.clone(item.name, where, version=f"v{entry.version.v}")
                found += [
                    file.read_bytes() + str(file).encode()
                    for file in where.rglob("*")
                    if file.is_file()
                ]
    return b"\n".join(found)


@pytest.mark.row("B06")
def test_a_secret_in_two_writes_is_masked_where_it_is_shown_and_kept(bench: Bench) -> None:
    shown: list[bytes] = []

    def talk(task: Task) -> str:
        return task.secrets["TOKEN"]

    script = (
        "import os,sys,time\n"
        "s = os.environ['TOKEN'].encode()\n"
        "for at in range(len(s)):\n"
        "    os.write(1, s[at:at+1]); os.write(2, s[at:at+1]); time.sleep(0.001)\n"
        "os.write(1, b' between ' + s[:5])\n"
    )
    bench.space.agents().add("leaky", {"command": [sys.executable, "-c", script]})
    run = bench.run(
        "x", agent="leaky", secrets={"TOKEN": SECRET}, output=lambda _, data: shown.append(data)
    )
    whole = said_in(run, bench.space)
    assert sorted(b"".join(shown).split()) == sorted(whole.split())
    out = b"".join(p.data for p in bench.space.runs().logs(run.id).pieces if p.stream == "stdout")
    assert out == b"*** between s3cr3"
    assert run.secrets == ("TOKEN",)
    spoken = bench.space.run(talk, f"use {SECRET} well", secrets={"TOKEN": SECRET})
    assert spoken.prompt == "use *** well"
    texts = [m.text for m in bench.space.transcript().read(spoken.session).messages]
    assert texts == ["use *** well", "***"]
    assert SECRET.encode() not in in_the_vault(bench)


@pytest.mark.row("B06")
def test_no_version_holds_a_secret_and_the_rest_is_kept(bench: Bench) -> None:
    def careless(task: Task) -> None:
        assert task.memory is not None
        token = task.secrets["TOKEN"]
        (task.memory / "plan.md").write_text(f"first\nthe token is {token}\nlast\n")
        (task.memory / "clean.md").write_text("clean")
        (task.memory / "db.bin").write_bytes(b"\0\1" + token.encode() + b"\0")
        (task.memory / f"by-{token.replace('/', '-')[:6]}.md").write_text("no secret in here")
        (task.memory / "far.txt").write_text("x" * 1_048_570 + token + "y" * 10)
        encoded = base64.b64encode(f"user:{token}".encode()).decode()
        (task.memory / "header.txt").write_text(f"Authorization: Basic {encoded}\n")
        (task.memory / "link").symlink_to(f"/tmp/{quote(token, safe='')}")

    run = bench.space.run(careless, "x", memory="notes", secrets={"TOKEN": SECRET})
    laid = memory_of(run)
    assert (run.state, laid.kept) == ("succeeded", "pushed")
    assert sorted(laid.masked) == ["far.txt", "header.txt", "plan.md"]
    assert sorted(laid.left_out) == ["db.bin", "link"]
    files = bench.files()
    assert sorted(files) == [
        *("a.md", "by-s3cr3t.md", "clean.md", "far.txt", "header.txt", "plan.md"),
    ]
    assert files["plan.md"] == b"first\nthe token is ***\nlast\n"
    assert files["far.txt"] == b"x" * 1_048_570 + b"***" + b"y" * 10
    assert files["header.txt"].startswith(b"Authorization: Basic dXNlc")
    aside = [f.read_bytes() for f in (Path(run.folder) / "aside").rglob("*") if f.is_file()]
    assert aside == [b"\0\1" + SECRET.encode() + b"\0"], "what is no text is put aside, not lost"
    for file in Path(run.folder).rglob("*"):
        if file.is_file() and not file.is_symlink():
            file.unlink()
    assert SECRET.encode() not in in_the_vault(bench)


@pytest.mark.row("B06")
def test_what_stood_in_the_place_of_a_file_with_a_secret_comes_back(bench: Bench) -> None:
    first = bytes(range(256)) * 5000
    bench.space.run(lambda task: (task.memory / "db.bin").write_bytes(first), "x", memory="notes")

    def leak(task: Task) -> None:
        assert task.memory is not None
        (task.memory / "db.bin").write_bytes(b"\0" + task.secrets["T"].encode())
        (task.memory / "b.md").write_text("b")

    run = bench.space.run(leak, "x", memory="notes", secrets={"T": SECRET})
    assert memory_of(run).left_out == ("db.bin",)
    assert bench.files()["db.bin"] == first
    assert bench.files()["b.md"] == b"b"


@pytest.mark.row("B06", "B11")
def test_a_recovery_version_holds_no_secret_though_its_run_was_killed(
    bench: Bench, tmp_path: Path
) -> None:
    ready = tmp_path / "ready"
    script = (
        "import os,pathlib,signal,sys\n"
        "memory = pathlib.Path(os.environ['HOLDFAST_MEMORY'])\n"
        "(memory / 'plan.md').write_text('token ' + os.environ['TOKEN'])\n"
        f"pathlib.Path({str(ready)!r}).write_text('x')\n"
        "signal.pause()\n"
    )
    bench.space.agents().add("leaky", {"command": [sys.executable, "-c", script]})
    env = environment({"HOLDFAST_VAULT": str(tmp_path / "vault"), "TOKEN": SECRET})
    words = ["run", "leaky", "x", "--memory", "notes", "--secret", "TOKEN"]
    runner = subprocess.Popen(
        command(words), env=env, cwd=tmp_path, stdout=subprocess.PIPE, stderr=subprocess.PIPE
    )
    while not ready.exists():
        assert runner.poll() is None, runner.communicate()
        signal.sigtimedwait([], 0.01)
    (run,) = bench.space.runs().list(state="running")
    assert SECRET.encode() not in (Path(run.folder) / "secrets").read_bytes()
    runner.kill()
    runner.communicate()
    (run, *_) = bench.space.runs().list()
    laid = memory_of(run)
    assert (run.state, laid.kept, laid.masked) == ("killed", "recovered", ("plan.md",))
    assert bench.files(f"v{laid.after}")["plan.md"] == b"token ***"
    assert SECRET.encode() not in in_the_vault(bench)


@pytest.mark.row("B06", "B11")
def test_without_its_secrets_a_dead_run_makes_no_version(bench: Bench, tmp_path: Path) -> None:
    from holdfast.engine.runs import execute

    def die(*_: object, **__: object) -> None:
        raise InvalidInput("dead", "the process is gone")

    def leak(task: Task) -> None:
        assert task.memory is not None
        (task.memory / "plan.md").write_text(task.secrets["T"])

    with pytest.MonkeyPatch.context() as broken:
        broken.setattr(execute, "finish", die)
        with pytest.raises(HoldfastError):
            bench.space.run(leak, "x", memory="notes", secrets={"T": SECRET})
    (place,) = (tmp_path / "vault" / "runs").iterdir()
    (place / "secrets").write_bytes(b"damaged")
    (run, *_) = bench.space.runs().list()
    assert (run.state, run.reason, memory_of(run).kept) == (
        *("failed", "secrets_unknown", "not_kept"),
    )
    assert (bench.head(), Path(run.folder).is_dir()) == (2, True)


@pytest.mark.row("B06")
def test_no_error_shows_a_secret(bench: Bench) -> None:
    def fail(task: Task) -> None:
        assert task.memory is not None
        (task.memory / f"{task.secrets['T']}\\x").write_text("x")

    run = bench.space.run(fail, "x", memory="notes", secrets={"T": "dont-show-me"})
    assert "dont-show-me" not in repr(run)
    bench.space.agents().add("nowhere", {"command": ["/no/${{ secrets.T }}"]})
    with pytest.raises(HoldfastError) as caught:
        bench.run("x", agent="nowhere", secrets={"T": "dont-show-me"})
    assert "dont-show-me" not in f"{caught.value} {caught.value.hint}"
    with pytest.raises(HoldfastError) as caught:
        bench.run("x", secrets={"T": "abc"})
    assert caught.value.code == "secret_too_short"
    assert "abc" not in caught.value.message


@pytest.mark.row("B06")
def test_where_a_value_comes_from_has_an_order(bench: Bench) -> None:
    script = "import os; print(os.environ['A'], os.environ['B'], os.environ['C'])"
    bench.declare(
        "asking",
        command=[sys.executable, "-c", script],
        environment={name: f"${{{{ vars.{name} }}}}" for name in "ABC"},
    )
    given = {
        "variables": {"A": "hand"},
        "env_file": "A=file\nB='in the file' # no\nexport C=\"two\\nlines\"\n# D=4\n\n",
        "environment": {**os.environ, "A": "env", "B": "env", "C": "env"},
    }
    run = bench.run("x", agent="asking", **given)
    assert said_in(run, bench.space) == b"hand in the file two\nlines\n"
    with pytest.raises(InvalidInput, match="asks for the variable 'A'") as caught:
        bench.run("x", agent="asking")
    assert caught.value.code == "variable_missing"
    (failed, *_) = bench.space.runs().list()
    assert (failed.state, failed.reason) == ("failed", "variable_missing")


@pytest.mark.row("B06")
@pytest.mark.parametrize(
    ("options", "code"),
    [
        ({"variables": {"1A": "x"}}, "variable_name_invalid"),
        ({"variables": {"HOLDFAST_RUN": "x"}}, "variable_reserved"),
        ({"secrets": {"": "long enough"}}, "variable_name_invalid"),
        ({"env_file": "no equals"}, "env_file_invalid"),
    ],
    ids=str,
)
def test_bad_variables_are_refused_before_a_run_begins(
    bench: Bench, options: dict[str, object], code: str
) -> None:
    count = len(bench.space.runs().list())
    with raises(InvalidInput, code):
        bench.run("say:x", **options)
    assert len(bench.space.runs().list()) == count


@pytest.mark.row("B06")
def test_a_place_of_another_kind_is_no_place(bench: Bench) -> None:
    bench.declare("odd", command=["echo", "${{ env.HOME }}"])
    with raises(InvalidInput, "template_unknown"):
        bench.run("x", agent="odd")
    assert names_in(["${{vars.A}} ${{ secrets.B }}{memory}"], "secrets") == ["B"]
    assert filled("{memory} ${{vars.A}}", {"memory": "{prompt}"}, {"vars": {"A": "{memory}"}}) == (
        "{prompt} {memory}"
    )
    assert variables_in("A='x'\nB=\nC=a=b\n") == {"A": "x", "B": "", "C": "a=b"}


# The masker


@pytest.mark.row("B06")
@given(
    st.lists(st.text("abc", min_size=1, max_size=5), min_size=1, max_size=4, unique=True),
    st.lists(st.text("abc", max_size=6), max_size=12),
)
def test_whatever_the_pieces_what_is_masked_is_the_same(
    secrets: list[str], pieces: list[str]
) -> None:
    forms = tuple(secret.encode() for secret in secrets)
    masker, data = Masker(forms), "".join(pieces).encode()
    said = b"".join(masker.feed(piece.encode()) for piece in pieces) + masker.end()
    expected, at = b"", 0
    for start, end in spans(data, forms):
        expected, at = expected + data[at:start] + MASK, end
    assert said == expected + data[at:]
    assert all(form not in part for part in said.split(MASK) for form in forms)


@pytest.mark.row("B06")
@pytest.mark.parametrize("secret", ["pa$$/w0rd+é", 'quo"ted\\back', "line one\nline two of it"])
def test_a_secret_is_known_in_other_writings(secret: str) -> None:
    forms = forms_of([secret])
    for written in (
        secret,
        quote(secret, safe=""),
        json.dumps(secret),
        base64.b64encode(f"x:{secret}:y".encode()).decode(),
        base64.urlsafe_b64encode(secret.encode()).decode(),
        secret.replace("\n", "\r\n"),
    ):
        said = masked(f"<{written}>".encode(), forms)
        assert MASK in said, written
    assert masked(b"line two of it", forms_of(["line one\nline two of it"])) == MASK
