"""The files as text: any entry survives being written and read, and what people write is read."""

from __future__ import annotations

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from holdfast.core.profile.markdown import Item, bullet, decoded, key, read, written
from holdfast.core.profile.merging import Was, merged, text_digest
from holdfast.core.profile.size import chars, entry_chars, file_chars

NASTY = st.sampled_from(
    [
        *("§", "---", "***", "# h", "## h", "- x", "* x", "1. x", "```", "~~~", "> q", "| a |"),
        *("\n", "\n\n", "\r\n", "\r", "\t", " ", "  ", "   ", "\x0b", "\x0c", "\x1c", "\x85"),
        *("\u2028", "\ufeff", "===", "<!-- -->", "[x]", "\\", "a", "b", "é", "👩\u200d👧"),
    ]
)
ANY = st.one_of(
    st.text(st.characters(exclude_categories=["Cs"]), min_size=1, max_size=60),
    st.lists(NASTY, min_size=1, max_size=12).map("".join),
)
TEXT = ANY.map(str.strip).filter(bool)


def as_file(text: str) -> str:
    """The text with the one kind of line break that a file has."""
    return text.replace("\r\n", "\n").replace("\r", "\n").strip()


def texts_of(items: tuple[Item, ...]) -> list[str]:
    return [item.text for item in items]


@pytest.mark.row("D18", "D01")
@given(st.lists(TEXT, max_size=6))
@example(["a\n\n§\n---\n# h\n- b\n```\ncode", "- x", "§", "1. one", "```", "a\n   \n  b"])
@example(["- -", "---", "# USER.md", "\ufeff", "* * *", "a\rb", "|a|b|\n|-|-|", "> quoted\n> text"])
def test_every_text_survives_being_written_and_read(texts: list[str]) -> None:
    file = written("USER.md", texts)
    assert texts_of(read(file)) == [as_file(text) for text in texts]
    assert [item.heading for item in read(file)] == [""] * len(texts)
    for encoding in ("utf-8", "utf-8-sig", "utf-16"):
        text, damaged = decoded(file.encode(encoding))
        assert (texts_of(read(text)), damaged) == ([as_file(text) for text in texts], False)
    crlf = as_file(file).replace("\n", "\r\n")
    assert texts_of(read(crlf)) == [as_file(text) for text in texts]


@pytest.mark.row("D02")
@given(st.lists(TEXT, max_size=6))
def test_sizes_add_up_to_that_of_the_file(texts: list[str]) -> None:
    body = "\n".join(bullet(text) for text in texts)
    assert file_chars(texts) == sum(map(entry_chars, texts)) + max(len(texts) - 1, 0)
    assert file_chars(texts) == chars(body)
    if body.isascii():
        assert file_chars(texts) == len(body)


@pytest.mark.row("D02")
@pytest.mark.parametrize(
    ("text", "seen"),
    [
        ("plain", 5),
        ("Zu\u0308rich", 6),
        ("👍🏽", 1),
        ("👨\u200d👩\u200d👧\u200d👦", 1),
        ("🇩🇪🇫🇷🇮🇹", 3),
        ("北京", 2),
        ("한국", 2),
        ("하나".encode().decode(), 2),
        ("हिन्दी", 3),
        ("❤️", 1),
        ("a\nb", 3),
    ],
)
def test_a_character_is_what_a_reader_takes_for_one(text: str, seen: int) -> None:
    assert chars(text) == seen


@pytest.mark.row("D17")
@pytest.mark.parametrize(
    ("file", "entries"),
    [
        ("", []),
        ("# USER.md\n", []),
        ("just a line", ["just a line"]),
        ("* one\n+ two\n3. three\n4) four", ["one", "two", "three", "four"]),
        ("- one\n- two\n\n\n- three\n", ["one", "two", "three"]),
        ("one\n§\ntwo\n§\nthree", ["one", "two", "three"]),
        ("one\n---\ntwo\n***\nthree", ["one", "two", "three"]),
        ("A line that\nwas wrapped.\n\nAnother.", ["A line that was wrapped.", "Another."]),
        (f"- {'x' * 50}\nby an editor\n- next", [f"{'x' * 50}\nby an editor", "next"]),
        ("- one\nanother line\n- next", ["one", "another line", "next"]),
        ("- with\n  more\n\n  after a blank\n- next", ["with\nmore\n\nafter a blank", "next"]),
        ("- with\n\tmore\n1. and\n   more", ["with\nmore", "and\nmore"]),
        ("- one\n  - below\n  - too\n- two", ["one\n- below\n- too", "two"]),
        ("```\na\n\nb\n```\nafter", ["```\na\n\nb\n```", "after"]),
        ("| a | b |\n|---|---|\n| 1 | 2 |", ["| a | b |\n|---|---|\n| 1 | 2 |"]),
        ("> said\n> so", ["> said\n> so"]),
        ("-\n- \n- x", ["x"]),
        ("---\nname: x\n---\ntext", ["name: x", "text"]),
    ],
)  # fmt: skip
def test_what_people_write_is_read_as_they_meant_it(file: str, entries: list[str]) -> None:
    assert texts_of(read(file)) == entries
    assert texts_of(read(file.replace("\n", "\r\n"))) == entries
    assert texts_of(read("\ufeff" + file)) == entries


@pytest.mark.row("D17")
def test_a_heading_says_what_is_below_it() -> None:
    items = read("# All\n\nfirst\n\n## Tools:\n- vim\n\nand git\n### Deep #\n- x\n# Again\n- y")
    assert [item.with_heading for item in items] == [
        "first",
        "Tools: vim",
        "Tools: and git",
        "Deep: x",
        "y",
    ]


@pytest.mark.row("D17")
def test_bytes_that_are_not_utf_8_are_read() -> None:
    text, damaged = decoded(b"\xef\xbb\xbf- caf\xe9\r\n- caf\xc3\xa9\n- \xff\xfe\x81")
    assert (texts_of(read(text)), damaged) == (["café", "café", "ÿþ\ufffd"], True)
    assert texts_of(read(decoded(bytes(range(1, 256)))[0]))


# Three ways


def base_of(texts: dict[str, str]) -> list[Was]:
    return [Was(id=name, digest=text_digest(text)) for name, text in texts.items()]


def joined(base: dict[str, str], now: dict[str, str], file: list[str]) -> dict[str, str]:
    """What the memory is after the file came back."""
    plan = merged(base_of(base), now, [Item(text=text) for text in file])
    after = {name: text for name, text in now.items() if name not in plan.remove}
    after |= dict(plan.update)
    return after | {f"new {place}": text for place, text in enumerate(plan.add)}


A, B, C = "Prefers green tea", "Deploys on Tuesdays", "Has two cats"


@pytest.mark.row("D17")
@pytest.mark.parametrize(
    ("now", "file", "after"),
    [
        ({}, [], {"a": A, "b": B}),
        ({}, [B, A], {"a": A, "b": B}),
        ({}, [A, B, C], {"a": A, "b": B, "new 0": C}),
        ({}, [A], {"a": A}),
        ({}, [A, "Deploys on Mondays"], {"a": A, "b": "Deploys on Mondays"}),
        ({"a": A}, [A, B], {"a": A}),
        ({"a": A, "b": B, "c": C}, [A, B], {"a": A, "b": B, "c": C}),
        ({"a": A, "b": B, "c": C}, [A, B, C], {"a": A, "b": B, "c": C}),
        ({"a": A, "b": "Deploys daily"}, [A, B], {"a": A, "b": "Deploys daily"}),
        ({"a": A, "b": "Deploys daily"}, [A], {"a": A, "b": "Deploys daily"}),
        (
            {"a": A, "b": "Deploys daily"},
            [A, "Deploys on Mondays"],
            {"a": A, "b": "Deploys daily", "new 0": "Deploys on Mondays"},
        ),
        ({"a": A, "b": "Deploys daily"}, [A, "Deploys daily"], {"a": A, "b": "Deploys daily"}),
        ({"a": A}, [A, "Deploys on Mondays"], {"a": A, "new 0": "Deploys on Mondays"}),
    ],
)
def test_a_file_and_the_memory_are_joined(
    now: dict[str, str], file: list[str], after: dict[str, str]
) -> None:
    base = {"a": A, "b": B}
    found = joined(base, now or base, file or [A, B])
    assert found == after


@pytest.mark.row("D17")
def test_an_entry_that_was_put_under_a_heading_is_the_same() -> None:
    plan = merged(
        base_of({"a": A, "b": B}), {"a": A, "b": B}, read(f"## Work\n- {B}\n- {C}\n\n{A}")
    )
    assert (plan.add, plan.update, plan.remove) == ((f"Work: {C}",), (), ())


WORD = st.sampled_from([f"fact {name} of this machine" for name in "abcdefgh"])


@pytest.mark.row("D17")
@settings(max_examples=300)
@given(
    base=st.lists(WORD, unique=True, max_size=6),
    removed=st.sets(WORD),
    came=st.lists(WORD, unique=True, max_size=3),
    deleted=st.sets(WORD),
    typed=st.lists(st.one_of(WORD, TEXT), unique=True, max_size=3),
    shuffle=st.randoms(use_true_random=False),
)
def test_nothing_is_dropped_that_one_side_added_and_nobody_removed(
    base: list[str],
    removed: set[str],
    came: list[str],
    deleted: set[str],
    typed: list[str],
    shuffle: object,
) -> None:
    was = {f"e{place}": text for place, text in enumerate(base)}
    now = {name: text for name, text in was.items() if text not in removed}
    now |= {f"n{place}": text for place, text in enumerate(came) if text not in now.values()}
    file = [text for text in base if text not in deleted]
    file += [text for text in typed if text not in file]
    shuffle.shuffle(file)  # pyright: ignore[reportAttributeAccessIssue, reportUnknownMemberType]
    after = {key(text) for text in joined(was, now, [as_file(text) for text in file]).values()}
    new_there = {key(text) for text in now.values()} - {key(text) for text in base}
    typed_in = {key(text) for text in file} - {key(text) for text in base}
    both_kept = {key(text) for text in base if text not in removed and text not in deleted}
    assert new_there | typed_in | both_kept <= after
    for text in base:
        gone = text in deleted or (text in removed and text not in came)
        if gone and text not in typed and text not in came:
            assert key(text) not in after
