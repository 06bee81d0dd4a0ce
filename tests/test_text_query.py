"""The query language: every operator, every odd input, and that an index understands all of it."""

from __future__ import annotations

import json
import re
from pathlib import Path

import apsw
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

import holdfast
from holdfast.core.text import (
    NEAR_MIN,
    Phrase,
    Prefix,
    Query,
    Word,
    content_terms,
    match_expression,
    parse,
    satisfies,
    similarity,
    tokens,
)

ROOT = Path(__file__).parent
CORPUS = json.loads((ROOT / "data" / "text" / "corpus.json").read_text())
REFERENCE = (ROOT.parent / "docs" / "reference" / "text.md").read_text()

ODD = '"*()^:+-&|.{}[]\\/,;!?~<>=#\0\t\n“”„\ud800🇨👩\u200d｜＋'
WORDS = [
    "a",
    "C++",
    ".net",
    "user_id",
    "GitHub",
    "don't",
    "1,375",
    "東京",
    "東",
    "서울에서",
    "น้ำ",
    "книги",
    "الكتاب",
    "👩🏽\u200d💻",
    "the",
    "OR",
    "AND",
    "NOT",
    "NEAR",
]
queries = st.one_of(
    st.text(max_size=30),
    st.lists(st.one_of(st.sampled_from(WORDS), st.text(ODD, max_size=3)), max_size=8).map(" ".join),
    st.lists(st.one_of(st.sampled_from(WORDS), st.text(ODD, max_size=3)), max_size=8).map("".join),
)
plain = st.text(
    st.one_of(
        st.characters(exclude_characters='"“”„‟＂*('),
        st.sampled_from("aB1._-'+# 東京한สวัहि👩\u200d💻"),
    ),
    max_size=20,
).filter(lambda text: not {"AND", "OR", "NOT"} & set(text.split()))


class Notes:
    """Notes in a real full-text table."""

    def __init__(self, notes: dict[str, str]) -> None:
        self.names = list(notes)
        self.table = apsw.Connection(":memory:")
        self.table.execute("CREATE VIRTUAL TABLE t USING fts5(x, content='', tokenize='ascii')")
        for row, text in enumerate(notes.values()):
            self.table.execute(
                "INSERT INTO t(rowid, x) VALUES (?, ?)", (row, " ".join(tokens(text)))
            )

    def found(self, query: str | Query) -> list[str]:
        expression = match_expression(query)
        if expression is None:
            return []
        rows = self.table.execute(
            "SELECT rowid FROM t WHERE t MATCH ? ORDER BY rowid", (expression,)
        )
        return [self.names[row] for (row,) in rows]


def finds(query: str, text: str) -> bool:
    return Notes({"note": text}).found(query) == ["note"]


@pytest.fixture(scope="module")
def corpus() -> Notes:
    return Notes({name: text for part in CORPUS.values() for name, text in part["notes"].items()})


@pytest.mark.row("E05")
@pytest.mark.parametrize("language", CORPUS)
def test_every_script_finds_its_notes_and_no_other(corpus: Notes, language: str) -> None:
    expected = {query: sorted(names) for query, names in CORPUS[language]["queries"].items()}
    assert {query: sorted(corpus.found(query)) for query in expected} == expected


@pytest.mark.row("E04")
@pytest.mark.parametrize(
    ("query", "wanted", "unwanted"),
    [
        ("a b", [["a"], ["b"]], []),
        ("a AND b", [["a"], ["b"]], []),
        ("a OR b", [["a", "b"]], []),
        ("a OR b OR c d", [["a", "b", "c"], ["d"]], []),
        ("x a OR b y", [["x"], ["a", "b"], ["y"]], []),
        ("a NOT b", [["a"]], ["b"]),
        ("NOT b a", [["a"]], ["b"]),
        ("a NOT b OR c", [["a"], ["c"]], ["b"]),
        ("a OR NOT b", [["a"]], ["b"]),
        ("a NOT NOT b", [["a"]], ["b"]),
        ("a NOT AND b", [["a"]], ["b"]),
        ("a and b or not c", [["a"], ["and"], ["b"], ["or"], ["not"], ["c"]], []),
        ('"a b" c', [['"a b"'], ["c"]], []),
        ('a NOT "b c"', [["a"]], ['"b c"']),
        ('a "b c', [["a"], ['"b c"']], []),
        ("“a b” „c d”", [['"a b"'], ['"c d"']], []),
        ("a* b", [["a*"], ["b"]], []),
        ('"a b"* c', [["a b*"], ["c"]], []),
        ("(a OR b) AND c*)", [["a", "b)"], ["c*"]], []),
        ('("a b" OR c)', [['"a b"', "c)"]], []),
        ("**a** *b* c**", [["**a**"], ["*b*"], ["c**"]], []),
        ('27" b"c', [['27"'], ['b"c']], []),
        ("--dry-run -v", [["--dry-run"], ["-v"]], []),
        ("AND a OR", [["a"]], []),
        ("OR a NOT", [["a"]], []),
        ("a - b", [["a"], ["b"]], []),
        ("a NOT - b", [["a"]], ["b"]),
        ("OR", [["OR"]], []),
        ("AND NOT", [["AND"], ["NOT"]], []),
        ("NOT a", [], ["a"]),
        ("the", [["the"]], []),
        ("", [], []),
        (' "" * - "*" \0', [], []),
    ],
)
def test_what_a_query_means(query: str, wanted: list[list[str]], unwanted: list[str]) -> None:
    def shown(item: Word | Phrase | Prefix) -> str:
        match item:
            case Word():
                return item.text
            case Phrase():
                return f'"{item.text}"'
            case Prefix():
                return f"{item.text}*"

    found = parse(query)
    assert [[shown(item) for item in group] for group in found.wanted] == wanted
    assert [shown(item) for item in found.unwanted] == unwanted


@pytest.mark.row("E04")
@pytest.mark.parametrize(
    ("query", "expression"),
    [
        ("deploys staging", '"deploy" AND "stage"'),
        ("a OR b c", '("a" OR "b") AND "c"'),
        ('a NOT b NOT "c d"', '("a") NOT ("b" OR "c d")'),
        ("deplo*", '"deplo" *'),
        ("user_id", '("user id" OR "userid")'),
        ("東 東京 東京都", '"東" * AND "東京" AND "東京 京都"'),
        ("NOT a", None),
        ("", None),
        ('"', None),
    ],
)
def test_what_an_index_is_asked(query: str, expression: str | None) -> None:
    assert match_expression(query) == expression
    assert match_expression(parse(query)) == expression


@pytest.mark.row("E04")
@given(query=queries)
@example(query='a" NOT (')
@example(query="NEAR(a b)")
@example(query="x:y ^a {b}")
@example(query="a " * 300)
@example(query=" ".join(f"(w{n}* OR" for n in range(300)))
@example(query='"' + "x " * 1000)
def test_no_input_is_a_syntax_error(query: str) -> None:
    assert Notes({"note": "some text"}).found(query) in ([], ["note"])


@given(query=queries, text=st.one_of(queries, plain))
def test_a_text_is_judged_as_an_index_finds_it(query: str, text: str) -> None:
    assert satisfies(parse(query), text) == (Notes({"note": text}).found(query) == ["note"])


@given(before=plain, middle=plain, after=plain)
def test_any_stretch_of_words_finds_its_text(before: str, middle: str, after: str) -> None:
    notes = Notes({"note": f"{before} {middle} {after}"})
    for query in (middle, f'"{middle}"'):
        assert notes.found(query) == (["note"] if tokens(middle) else [])


@given(
    word=st.text("abcdegilnorstuy", min_size=1, max_size=12)
    | st.text("книгаотевырслпёй", min_size=1, max_size=12)
    | st.text("كتابالمدرسةونيهو", min_size=1, max_size=8)
    | st.text("东京都部署数据库", min_size=1, max_size=8)
    | st.text("กขคงาิ่้ไเ", min_size=1, max_size=8),
    data=st.data(),
)
def test_every_beginning_of_a_word_finds_it(word: str, data: st.DataObject) -> None:
    chars = data.draw(st.integers(min_value=1, max_value=len(word)))
    notes = Notes({"note": f"one {word} more"})
    assert notes.found(f"{word[:chars]}*") == ["note"]


def test_a_phrase_keeps_its_order_across_identifiers() -> None:
    text = "please set user_id on GitHub before 1,375 requests"
    for query in ('"set user_id on"', '"set user id on github before"', '"on GitHub before 1375"'):
        assert finds(query, text)
    for query in ('"git hub before"', '"set userid on"', '"before github"', '"requests git"'):
        assert not finds(query, text)


def test_a_long_query_is_cut_and_still_finds() -> None:
    text = " ".join(f"word{number}" for number in range(500))
    assert finds(text, text)
    assert finds(f'"{text}"', text)
    assert len(parse(text).wanted) == 128
    assert match_expression("x" * 1_000_000) == match_expression("x" * 10_000)


@pytest.mark.parametrize(
    ("sentence", "terms"),
    [
        ("When did Maria go camping in the Alps?", "maria go camp alp"),
        ("What did the doctor say about the car?", "doctor say car"),
        ("Wann war die Besprechung mit Anna?", "besprechung anna"),
        ("Où est la clé de la voiture, car je pars", "cle voitur par"),
        ("¿Cuándo es la reunión con José?", "reunion jose"),
        ("Когда была встреча с Анной?", "встреч анн"),
        ("متى كان الاجتماع مع سارة؟", "اجتماع سار"),
        ("我们什么时候部署", "们什 候部 部署"),
        ("Where is the C++ or .NET code of user_id?", "c＋＋ ．net code user id userid"),
        ("the", "the"),
        ("Who are you?", "who are you"),
        ("die die die", "die"),
        ("", ""),
        ("?!", ""),
    ],
)
def test_a_sentence_gives_what_it_is_about(sentence: str, terms: str) -> None:
    assert content_terms(sentence) == terms.split()


@given(text=st.one_of(queries, plain))
def test_content_terms_are_tokens_once_each(text: str) -> None:
    terms = content_terms(text)
    assert len(set(terms)) == len(terms)
    table = Notes({"terms": ""}).table
    table.execute("CREATE VIRTUAL TABLE seen USING fts5vocab(t, instance)")
    table.execute("INSERT INTO t(rowid, x) VALUES (1, ?)", (" ".join(terms),))
    assert [term for (term,) in table.execute("SELECT term FROM seen ORDER BY offset")] == terms


def _examples(columns: int) -> list[tuple[str, ...]]:
    """The rows of the reference whose cells are all code."""
    rows = (line.strip("| \n").split(" | ") for line in REFERENCE.splitlines() if "|" in line)
    cells = [tuple(row) for row in rows if len(row) == 3]
    coded = [row for row in cells if all(re.fullmatch("`[^`]+`", cell) for cell in row[:columns])]
    return [tuple(cell.strip("`") for cell in row) for row in coded]


@pytest.mark.row("E04", "E05")
@pytest.mark.parametrize(("query", "found", "missed"), _examples(3))
def test_the_reference_shows_what_is_true(query: str, found: str, missed: str) -> None:
    assert finds(query, found)
    assert not finds(query, missed)


@pytest.mark.parametrize(
    ("one", "other", "near"), [row for row in _examples(2) if row[2] in ("yes", "no")]
)
def test_the_reference_knows_near_duplicates(one: str, other: str, near: str) -> None:
    assert (similarity(one, other) >= NEAR_MIN) == (near == "yes")


def test_the_reference_has_examples() -> None:
    assert len(_examples(3)) >= 60
    assert [row[2] for row in _examples(2)].count("no") == 3


@pytest.mark.row("E05")
def test_forgetting_leaves_no_term_of_any_script_in_the_index(tmp_path: Path) -> None:
    with holdfast.open(tmp_path) as vault:
        notes = vault.space().notes()
        kept = notes.save("what stays here").entry
        texts = [text for each in CORPUS.values() for text in each["notes"].values()]
        for text in texts:
            notes.remove(notes.save(text).entry.id)
        vault.tidy()
        conn = apsw.Connection(str(tmp_path / "vault.db"))
        assert {doc for (doc,) in conn.execute("SELECT doc FROM entry_places")} == {kept.number}
        assert conn.execute("SELECT id FROM entry_terms_content").fetchall() == [(kept.number,)]
        for text in texts:
            assert not vault.space().search(text, match="any", hidden=True).hits
        assert list(vault.verify()) == []
