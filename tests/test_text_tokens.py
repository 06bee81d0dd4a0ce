"""What an index holds of a text: the same tokens for ever, each of them whole, for any text."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import apsw
import pytest
from hypothesis import given
from hypothesis import strategies as st

from holdfast.core.text import (
    TEXT_VERSION,
    content_terms,
    fold,
    match_expression,
    normal_form,
    similarity,
    sketch,
    snippet,
    tokens,
)
from holdfast.core.text.compounds import compounds, form_of, plain_word
from holdfast.core.text.words import MARK, of_piece, stem, streams

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

DATA = Path(__file__).parent / "data" / "text"

AWKWARD = (
    "aZ09 .,'-_+#*\"()/@\0\t\u00a0\u200b\u200c\u200d\ufe0f"
    "👩🏽💻🇩🇪東京カ한글ㅋสวั์नद्द्द\u093cהד\u05f4\u05c1"
    "اليـً\u06ccüßİıẞſǅﬁ½²№™\u0301\u0308\u0306\u3099٣１Ａ＋｜\ud800\udc00\uffff\ue000\U000e0067\U0010fffd"
)
texts = st.text(st.one_of(st.characters(), st.sampled_from(AWKWARD)), max_size=30)


@pytest.fixture
def index() -> apsw.Connection:
    connection = apsw.Connection(":memory:")
    connection.execute("CREATE VIRTUAL TABLE held USING fts5(x, content='', tokenize='ascii')")
    connection.execute("CREATE VIRTUAL TABLE seen USING fts5vocab(held, instance)")
    return connection


def held_in(index: apsw.Connection, terms: list[str]) -> list[str]:
    """What the full-text table makes of the terms, in order."""
    index.execute("INSERT INTO held(held) VALUES ('delete-all')")
    index.execute("INSERT INTO held(rowid, x) VALUES (1, ?)", (" ".join(terms),))
    return [term for (term,) in index.execute("SELECT term FROM seen ORDER BY offset")]


def test_tokens_change_only_with_their_version() -> None:
    golden = json.loads((DATA / "golden.json").read_text())
    found = [" ".join(tokens(vector["text"])) for vector in golden["vectors"]]

    assert found == [vector["tokens"] for vector in golden["vectors"]], (
        "tokens changed: raise TEXT_VERSION and write the vectors again"
    )
    assert golden["version"] == TEXT_VERSION


@pytest.mark.parametrize(
    ("text", "words", "others"),
    [
        ("set user_id now", "set user id now", "｜ userid"),
        ("GitHub's HTTPServer", "github httpserver", "｜ git hub ｜ http server"),
        ("first-class follow-ups", "first class follow ups", "｜ firstclass ｜ followup"),
        ("C, C++ and C#", "c c＋＋ and c＃", ""),
        (".NET notepad++", "net notepad", "｜ ．net ｜ notepad＋＋"),
        ("main.py", "main py", "｜ ．py mainpi"),
        ("1,375 or 3.14", "1375 or 3 14", "｜ 1 375"),
        ("v1.2.3 python3.11", "1 2 3 python 3 11", "｜ v1 ｜ python3"),
        ("2024-03-14 10:30", "2024 03 14 10 30", "｜ 20240314"),
        ("8GB utf-8", "8gb utf 8", "｜ 8 gb ｜ utf8"),
        ("don't they'll", "dont they", ""),
        ("l'homme O'Neill", "l homm o neill", "｜ oneil"),
        ("ann@example.org", "ann exampl org", "｜ ．org exampleorg"),
        ("url.md#part", "url md part", "｜ ．md urlmd"),
        ("She bought mice", "she buy mous", "bought mice"),
        ("東京都 東 第3章", "東京 京都 都 東 第 3 章", ""),
        ("한국어를", "한국 국어 어를 를", ""),
        ("ที่กิน", "ที่กิ กิน น", ""),
        ("👩🏾‍💻👍🏿 🇨🇭🇨🇦", "👩‍💻 👍 🇨🇭 🇨🇦", "｜ 👩 💻"),
        ("Holdfast™ [1]", "holdfast 1", ""),
    ],
)
def test_words_and_other_forms(text: str, words: str, others: str) -> None:
    assert [" ".join(stream) for stream in streams(text)] == [words, others]


def test_no_phrase_reaches_from_one_stream_into_the_other() -> None:
    assert tokens("open GitHub") == ["open", "github", MARK, "git", "hub"]
    assert tokens("she bought it") == ["she", "buy", "it", MARK, "bought"]


@given(text=texts)
def test_every_token_survives_the_index_whole(text: str) -> None:
    connection = apsw.Connection(":memory:")
    connection.execute("CREATE VIRTUAL TABLE held USING fts5(x, content='', tokenize='ascii')")
    connection.execute("CREATE VIRTUAL TABLE seen USING fts5vocab(held, instance)")
    assert held_in(connection, tokens(text)) == tokens(text)


def test_the_corpus_survives_the_index_whole(index: apsw.Connection) -> None:
    corpus = json.loads((DATA / "corpus.json").read_text())
    for language in corpus.values():
        for note in language["notes"].values():
            assert held_in(index, tokens(note)) == tokens(note)


@given(one=texts, other=texts)
def test_a_text_after_another_adds_its_own_words(one: str, other: str) -> None:
    words, others = streams(f"{one} {other}")
    assert words == streams(one)[0] + streams(other)[0]
    assert others == streams(one)[1] + streams(other)[1]


@given(text=texts)
def test_words_do_not_depend_on_case_and_accents(text: str) -> None:
    assert streams(fold(text))[0] == streams(text)[0]


@given(text=texts)
def test_tokens_are_folded(text: str) -> None:
    signs = str.maketrans("", "", "＋＃．｜")
    for token in tokens(text):
        assert fold(token.translate(signs)) == token.translate(signs)


@given(piece=st.text(st.sampled_from("aBcsS.,'\"!?()+#-_9"), min_size=1, max_size=10))
def test_the_short_way_to_a_plain_word_is_no_other_way(piece: str) -> None:
    plain = plain_word(piece)
    if plain:
        forms = [form_of(compound) for compound in compounds(piece)]
        assert [(form.words, form.wholes, form.parts) for form in forms] == [((plain,), (), ())]


def test_what_is_remembered_is_bounded() -> None:
    remembered = (of_piece.__globals__["_known"], stem)
    streams(" ".join(f"piece{number}x" for number in range(17_000)))
    assert [cache.cache_info().currsize for cache in remembered] == [16_384, 16_384]

    before = remembered[0].cache_info().currsize
    streams("y" * 1_000_000)
    assert remembered[0].cache_info().currsize == before


def test_a_huge_word_is_held_in_pieces_that_find_it() -> None:
    assert tokens("ab" * 100) == ["ab" * 32, "ab" * 32, "ab" * 32, "abababab"]
    assert match_expression("ab" * 100) == f'"{"ab" * 32} {"ab" * 32} {"ab" * 32} abababab"'


HOSTILE = {
    "one word": "x",
    "one number": "7",
    "one symbol": "👩\u200d",
    "humps": "aB",
    "dots": "a.",
    "joints": "a-_'.",
    "signs": "+#",
    "quotes": '"',
    "asterisks": "*a",
    "surrogates": "\ud800",
    "nothing": "\0",
    "marks": "\u0345\u0300\u0316",
    "marks that come apart": "\u0f73\u0344",
    "Thai marks": "ก็็",
    "joiners": "न्\u200d\u200c",
    "long expansions": "ﷺ                 ",
    "Chinese": "部署",
    "flags": "🇨",
    "digits in groups": "1,234",
    "brackets": "(((",
    "white space": " \u2003",
    "words": "the C++ ",
}


def _calls(work: Callable[[], object]) -> int:
    """How many functions the work calls, in Python and in C."""
    count = 0

    def profile(_frame: object, event: str, _arg: object) -> None:
        nonlocal count
        count += event in ("call", "c_call")

    sys.setprofile(profile)
    try:
        work()
    finally:
        sys.setprofile(None)
    return count


@pytest.mark.parametrize("pattern", HOSTILE.values(), ids=HOSTILE)
def test_work_grows_with_the_text_and_no_faster(pattern: str) -> None:
    def everything(chars: int) -> None:
        text = pattern * (chars // len(pattern))
        tokens(text)
        fold(text)
        normal_form(text)
        match_expression(text)
        content_terms(text)
        similarity(text, text + "a")
        sketch(text)
        snippet(text, text[:100], 80)

    everything(100)
    once, twice = (_calls(lambda n=n: everything(n)) for n in (1_000, 2_000))
    assert twice <= 2.2 * once + 1_000


@pytest.mark.parametrize("pattern", HOSTILE.values(), ids=HOSTILE)
def test_any_text_has_an_answer(pattern: str) -> None:
    text = pattern * (10_000 // len(pattern))
    found = tokens(text)

    assert sum(map(len, found)) <= 40 * len(text)
    assert max(map(len, found), default=0) <= 64
    assert fold(fold(text)) == fold(text)
    assert normal_form(normal_form(text)) == normal_form(text)
    assert len(snippet(text, text[:50], 100).text) <= 100
    assert similarity(text, text) == 1.0


def test_ten_megabytes_of_one_word() -> None:
    assert len(tokens("x" * 10_000_000)) == 156_250
