"""The part of a text that a search result shows, and what is marked in it."""

from __future__ import annotations

import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from holdfast.core.text import Snippet, match_expression, snippet

LONG = (
    "We met in the morning and spoke about many things that do not matter here at all. "
    "Then Maria said that deploys go to staging first, and production follows on Thursday. "
    "Later somebody mentioned staging once more, but nothing came of it and we went home."
)


def marked(found: Snippet) -> list[str]:
    return [found.text[start:end] for start, end in found.matches]


def test_the_window_has_the_most_different_matches() -> None:
    found = snippet(LONG, "staging production", 80)

    assert marked(found) == ["staging", "production"]
    assert found.text == LONG[found.start : found.start + len(found.text)]
    assert found.text == "deploys go to staging first, and production follows on Thursday. Later"
    assert (found.more_before, found.more_after) == (True, True)


def test_of_equal_windows_the_first() -> None:
    found = snippet(LONG, "staging", 40)
    assert found.start < LONG.index("Later")
    assert marked(found) == ["staging"]


def test_a_short_text_is_shown_whole() -> None:
    assert snippet("Deploys go to staging", "deploy", 100) == Snippet(
        text="Deploys go to staging",
        start=0,
        matches=((0, 7),),
        more_before=False,
        more_after=False,
    )


def test_without_a_match_the_beginning() -> None:
    found = snippet(LONG, "zebra", 30)
    assert (found.text, found.start, found.matches) == ("We met in the morning and", 0, ())
    assert (found.more_before, found.more_after) == (False, True)
    assert snippet("", "a", 10).text == ""


@pytest.mark.parametrize(
    ("text", "query", "shown"),
    [
        ("Two deploys, one deployment", "deploying", ["deploys", "deployment"]),
        ("dark mode, then mode dark", '"dark mode"', ["dark mode"]),
        ("a configuration is configured", "config*", ["configuration", "configured"]),
        ("a dark moon, a dark room", '"dark mo"*', ["dark moon"]),
        ("staging but not production", "staging NOT zebra", ["staging"]),
        ("alpha beta gamma", "alpha OR gamma", ["alpha", "gamma"]),
        ("set user_id or userId here", "user_id", ["user_id", "userId"]),
        ("on GitHub today", "hub", ["GitHub"]),
        ("on GitHub today", '"git hub"', ["GitHub"]),
        ("She bought bread", "buy", ["bought"]),
        ("«Crème brûlée», they said", "creme", ["Crème"]),
        ("cafe\u0301, bar", "café", ["cafe\u0301"]),
        ("see https://example.org/a for it", "example.org", ["example.org"]),
        ("written in C++, not C", "C", ["C"]),
        ("written in C++, not C", "C++", ["C++"]),
        ("limit 1,375 chars", "1375", ["1,375"]),
        ("所有部署先发布到预发布环境，再发布。", "发布", ["发布", "发布", "发布"]),
        ("我喜欢吃鱼，不吃肉", "鱼", ["鱼"]),
        ("東京都庁の展望台", "東京都", ["東京都"]),
        ("ﾄﾏﾄを買う", "トマト", ["ﾄﾏﾄ"]),
        ("서울에서 만나요", "서울", ["서울"]),
        ("ฉันชอบกินน้ำส้ม", "น้ำส้ม", ["น้ำส้ม"]),
        ("यह हिन्दी है", "हिंदी", ["हिन्दी"]),
        ("قرأت الكِتَابَ أمس", "كتاب", ["الكِتَابَ"]),
        ("shipped 👍🏽 and 👩🏾‍💻", "👍 OR 💻", ["👍🏽", "👩🏾‍💻"]),
    ],
)
def test_what_is_marked(text: str, query: str, shown: list[str]) -> None:
    assert marked(snippet(text, query, 200)) == shown


def test_text_before_and_behind_and_whole_words() -> None:
    words = " ".join(f"word{number}" for number in range(1000))
    found = snippet(words, "word500", 60)

    before, _, behind = found.text.partition("word500")
    assert 10 <= len(before) <= 20
    assert len(behind) >= len(before)
    assert found.text.split() == [f"word{number}" for number in range(498, 505)]


@pytest.mark.parametrize(
    "text",
    ["👩🏾‍💻" * 40, "न्दी" * 40, "e\u0301" * 80, "🇨🇭" * 60, "각" * 80, "ก้ำ" * 60],
)
def test_no_character_is_cut_in_two(text: str) -> None:
    for chars in range(20, 40):
        found = snippet(f"x{text}y", "zebra", chars)
        after = f"x{text}y"[len(found.text) :]
        assert found.text + after == f"x{text}y"
        assert not unicodedata.category(after[0]).startswith("M")
        assert after[0] not in "\u200d\U0001f3fe"
        assert found.text.count("🇨") == found.text.count("🇭")


def test_a_match_longer_than_the_window() -> None:
    found = snippet(f"see {'x' * 300} there", "x" * 300, 50)
    assert found.text == "x" * 50
    assert found.matches == ((0, 50),)


texts = st.text(
    st.one_of(st.characters(), st.sampled_from("ab 東京👩\u200d💻🏽\u0301 ก้ß🇨🇭")), max_size=60
)


@given(text=texts, query=texts, chars=st.integers(min_value=0, max_value=40))
def test_any_text_has_a_snippet(text: str, query: str, chars: int) -> None:
    found = snippet(text, query, chars)
    assert len(found.text) <= max(chars, 1)
    assert text[found.start : found.start + len(found.text)] == found.text
    assert found.more_before == (found.start > 0)
    assert found.more_after == (found.start + len(found.text) < len(text))
    borders = [border for match in found.matches for border in match]
    assert borders == sorted(borders)
    assert all(0 <= start < end <= len(found.text) for start, end in found.matches)


@given(before=texts, word=st.sampled_from(["deploy", "東京", "книга", "👍", "C++"]), after=texts)
def test_what_is_found_is_marked(before: str, word: str, after: str) -> None:
    text = f"{before} {word} {after}"
    assert match_expression(word) is not None
    assert len(marked(snippet(text, word, 1000))) >= 1
