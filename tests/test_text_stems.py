"""Words meet their other forms, and only those."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from holdfast.core.text.english import english_stem, stems_beyond
from holdfast.core.text.words import stem

# A word, and its stem by the published rules of Porter2.
ENGLISH = """
abilities:abil ability:abil added:add adjustable:adjust allowance:allow analogously:analog
apologists:apolog archived:archiv arsenal:arsenal bleeding:bleed boys:boy carefully:care
cats:cat communism:communism conditional:condit configuration:configur consistency:consist
crying:cri day:day decisiveness:decis deployed:deploy deployment:deploy digitizer:digit dying:die
early:earli egged:egg emergency:emergenc evening:evening exceed:exceed fairly:fair feed:feed
gas:gas general:general generously:generous goodness:good happiness:happi happy:happi
hopefully:hope hopping:hop hoping:hope inning:inning international:internat kiwis:kiwi
knightly:knight later:later luxuriated:luxuri news:news only:onli operators:oper
organization:organiz organs:organ past:past pasted:paste proceeds:proceed professional:profession
radically:radic relational:relat running:run says:say sensibility:sensibl sized:size
skies:sky skis:ski sleeps:sleep studied:studi tanned:tan this:this ties:tie triplicate:triplic
university:universiti vietnamization:vietnam yes:yes youthful:youth
"""

IRREGULAR = "bought:buy brought:bring children:child feet:foot men:man took:take went:go won:win"


@pytest.mark.parametrize("pair", ENGLISH.split())
def test_english_by_the_rules(pair: str) -> None:
    word, expected = pair.split(":")
    assert english_stem(word) == expected


@pytest.mark.parametrize("pair", IRREGULAR.split())
def test_english_beside_the_rules(pair: str) -> None:
    word, base = pair.split(":")
    assert english_stem(word) == english_stem(base)


@pytest.mark.parametrize("word", ["aws", "ios", "ids", "dns", "because", "very", "having", "v2"])
def test_short_and_small_words_stay(word: str) -> None:
    assert stem(word) == word


@pytest.mark.parametrize(
    "forms",
    [
        "книга книги книгу книгой книгами",
        "новый новая новое новые нового",
        "λογοσ λογου λογον",
        "كتاب الكتاب والكتاب بالكتاب",
        "מורה המורה",
        "ספר הספר ספרים בספר",
        "लडका लडके लडकी लडकों",
    ],
)
def test_other_scripts(forms: str) -> None:
    assert len({stem(form) for form in forms.split()}) == 1


BEGINNINGS = (
    "deploy config organ happi running nation relat form act creat gener univers strateg hop"
)
ENDINGS = (
    " s ed er ers ing ings ingly edly ation ations ational ationally ized izing ization ly ment"
    " ments ness ful fully fulness able ability abilities ive iveness ity ities al ally ous"
    " ously ies y"
)


@given(
    start=st.one_of(
        st.sampled_from(BEGINNINGS.split()), st.text("abelnrstuy", min_size=2, max_size=6)
    ),
    ending=st.sampled_from(ENDINGS.split(" ")),
    data=st.data(),
)
def test_a_beginning_leads_to_every_word(start: str, ending: str, data: st.DataObject) -> None:
    word = start + ending
    prefix = word[: data.draw(st.integers(min_value=1, max_value=len(word)))]
    held = english_stem(word)
    assert held.startswith(prefix) or held in stems_beyond(prefix)
