"""What came as text alone is rendered so that reading it gives the same texts back."""

from __future__ import annotations

import yaml
from hypothesis import example, given
from hypothesis import strategies as st

from workbench.skills.reader import read_skill
from workbench.skills.render import normal_body, normal_description, normal_name, render_skill

TEXT = st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0"), max_size=60)
NASTY = "\x7f\x80\x85\x9f\u2028\u2029\ufeff\ufffe\uffff😀 'a': \"b\" \\n\n---\n# x: [*&"


@given(TEXT, TEXT, TEXT)
@example("yes", "123: [", "---\nname: other\n---\n")
@example(NASTY, NASTY, NASTY)
@example("\x1c", "\x0c\u2028", "\x85\n\x1d\n    code\n\n")
def test_rendered_texts_read_back_as_they_were(name: str, description: str, body: str) -> None:
    texts = (normal_name(name) or "demo", normal_description(description), normal_body(body))
    found = read_skill(render_skill(*texts), "other")
    assert (found.name, found.description, found.body) == texts
    assert found.repairs == ()


@given(TEXT)
def test_the_normal_form_is_its_own_normal_form(text: str) -> None:
    for normal in (normal_name, normal_description, normal_body):
        assert normal(normal(text)) == normal(text)


def test_other_yaml_readers_see_the_same_texts() -> None:
    head = render_skill("a: b", 'say "hi" \u2028 é 😀', "body").decode().split("---\n")[1]
    assert yaml.safe_load(head) == {"name": "a: b", "description": 'say "hi" \u2028 é 😀'}


def test_the_rendered_file_is_what_people_would_write() -> None:
    assert render_skill("demo", "Makes charts", "# Demo") == (
        b'---\nname: "demo"\ndescription: "Makes charts"\n---\n\n# Demo\n'
    )


def test_an_indented_first_line_of_the_body_stays_indented() -> None:
    assert normal_body("\n  \n    code\n\n") == "    code"
