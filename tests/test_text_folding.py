"""What counts as the same writing, script by script."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from holdfast.core.text import fold, normal_form

texts = st.text(
    st.one_of(
        st.characters(), st.sampled_from("aÉßİıΐᾳςёйかが\u3099\u0301\u0345\u1161\u11a8한\u200d")
    ),
    max_size=20,
)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("Crème Brûlée", "creme brulee"),
        ("STRASSE", "straße"),
        ("STRAẞE", "Straße"),
        ("İstanbul", "istanbul"),
        ("DIYARBAKIR", "diyarbakır"),
        ("Łódź Đà Nẵng Øre", "lodz da nang ore"),
        ("Ⅻ ﬁn Ａｂｃ", "xii fin abc"),
        ("ΛΌΓΟΣ", "λογος"),
        ("Ёлка за\u0301мок", "елка замок"),
        ("اِجْتِمَاعٌ", "اجتماع"),
        ("أحمد إلى آمنة مدرسة مستشفى", "احمد الي امنه مدرسه مستشفي"),
        ("کتاب", "كتاب"),
        ("العـــصير ٤٠٢", "العصير 402"),
        ("שָׁלוֹם", "שלום"),
        ("हिन्दी मेज़ चाँद", "हिंदी मेज चांद"),
        ("ﾄﾏﾄ か\u3099", "トマト が"),
        ("\u1109\u1165\u110b\u116e\u11af", "서울"),
        ("๑๔ १० ১০", "14 10 10"),
        ("👍🏽 ❤️", "👍 ❤"),
        ("’quoted’ “so” a—b", "'quoted' \"so\" a-b"),
        ("soft\u00adhyphen", "softhyphen"),
    ],
)
def test_folds_to_the_same(one: str, other: str) -> None:
    assert fold(one) == fold(other)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("йод", "иод"),
        ("їжа", "іжа"),
        ("ўсё", "усе"),
        ("が", "か"),
        ("ハ", "パ"),
        ("কি", "কী"),
        ("กา", "ก้า"),
        ("য়", "য"),
        ("a b", "ab"),
        ("C++", "C"),
        ("👍", "👎"),
        ("🇨🇭", "🇨🇦"),
    ],
)
def test_keeps_apart_what_differs(one: str, other: str) -> None:
    assert fold(one) != fold(other)


@given(text=texts)
def test_folding_twice_is_folding_once(text: str) -> None:
    assert fold(fold(text)) == fold(text)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("Uses  dark\tmode", " uses dark MODE\n"),
        ("e\u0301tude", "ÉTUDE"),
        ("straße", "STRASSE"),
        ("\ufefftwo\u00a0words", "two words"),
        ("zero\u200bwidth", "zerowidth"),
        ("Σίσυφος", "ΣΊΣΥΦΟΣ"),
    ],
)
def test_case_and_space_do_not_make_another_text(one: str, other: str) -> None:
    assert normal_form(one) == normal_form(other)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("10² items", "102 items"),
        ("résumé", "resume"),
        ("Uses dark mode", "Uses dark mode."),
        ("½ cup", "1⁄2 cup"),
        ("👍🏽", "👍"),
    ],
)
def test_anything_else_does(one: str, other: str) -> None:
    assert normal_form(one) != normal_form(other)


@given(text=texts)
def test_the_normal_form_is_its_own(text: str) -> None:
    formed = normal_form(text)
    assert normal_form(formed) == formed
    assert normal_form(f" \n{text}\t ") == formed
    assert formed == " ".join(formed.split())
