"""Where files of the build context lie in the image."""

from __future__ import annotations

import pytest

from workbench.sandboxing.dockerfile import parse
from workbench.sandboxing.landing import Landing, image, landings, members, places


def landed(text: str, *files: str) -> dict[str, str]:
    return {landing.target: landing.source for landing in landings(parse(text), files)}


@pytest.mark.parametrize(
    ("copy", "place"),
    [
        ("COPY skills /opt/.claude/skills", "/opt/.claude/skills"),
        ("COPY skills/ /opt/x/", "/opt/x"),
        ("COPY ./skills /x", "/x"),
        ('COPY ["skills", "/x"]', "/x"),
        ("COPY --chown=agent:agent skills /x", "/x"),
        ("ADD skills /x", "/x"),
        ("WORKDIR /app\nCOPY . .", "/app/skills"),
        ("WORKDIR /app\nCOPY . data/", "/app/data/skills"),
        ("WORKDIR /app\nWORKDIR sub\nCOPY skills s", "/app/sub/s"),
        ("ENV H=/home/a\nCOPY skills $H/.x/skills", "/home/a/.x/skills"),
        ("ARG H=/b\nCOPY skills ${H}/s", "/b/s"),
        ("COPY s*lls /x", "/x"),
        ("COPY a skills /x/", "/x"),
    ],
)
def test_the_folder_is_found_at_its_place(copy: str, place: str) -> None:
    assert places(parse(f"FROM a\n{copy}\n")) == (place,)


@pytest.mark.parametrize("copy", ["COPY skillset /x", "COPY a/skills /x", "COPY --from=img skills /x", ""])
def test_other_folders_are_no_place(copy: str) -> None:
    assert places(parse(f"FROM a\n{copy}\n")) == ()


def test_places_are_inherited_and_copied_between_stages_and_lost_stages_do_not_count() -> None:
    text = (
        "FROM a AS base\nCOPY skills /inherited\nFROM b AS other\nCOPY skills /s\nCOPY skills /unused\n"
        "FROM base\nCOPY --from=other /s /copied\n"
    )
    assert places(parse(text)) == ("/copied", "/inherited")


def test_single_members_are_told_from_the_whole() -> None:
    text = "FROM a\nCOPY skills /s\nCOPY skills/gmail-skill /v/gmail\n"
    assert members(parse(text)) == (Landing("gmail-skill", "/v/gmail"),)
    assert places(parse(text)) == ("/s",)


def test_files_land_in_folders_or_under_new_names() -> None:
    text = (
        "FROM a\nWORKDIR /opt\nCOPY a.csv /opt/\nCOPY a.csv /opt/b.csv\nCOPY a.csv /opt\nCOPY a.csv .\n"
        "COPY data/ /d\nCOPY a.csv c.cif /many/\nCOPY *.cif /g/\nCOPY a.csv new\n"
    )
    assert landed(text, "a.csv", "c.cif", "data/x/y") == {
        "/opt/a.csv": "a.csv",
        "/opt/b.csv": "a.csv",
        "/opt/new": "a.csv",
        "/d/x/y": "data/x/y",
        "/many/a.csv": "a.csv",
        "/many/c.cif": "c.cif",
        "/g/c.cif": "c.cif",
    }


def test_archives_are_unpacked_by_add_and_urls_are_not_files() -> None:
    text = "FROM a\nADD x.tar.gz /a/\nCOPY x.tar.gz /b/\nADD https://example.org/f /c/\n"
    assert landed(text, "x.tar.gz", "f") == {"/b/x.tar.gz": "x.tar.gz"}


def test_a_later_file_at_the_same_path_wins() -> None:
    assert landed("FROM a\nCOPY one /x\nCOPY two /x\n", "one", "two") == {"/x": "two"}


def test_the_image_is_described_by_its_last_stage() -> None:
    view = image(parse('FROM a\nENV W=/w P=$PATH:/x\nWORKDIR $W\nUSER 1000:1000\nENTRYPOINT ["/e"]\n'))
    assert (view.workdir, view.user, view.has_entrypoint) == ("/w", "1000:1000", True)
    assert view.env["P"].endswith("/bin:/x")
    assert image(parse("FROM a\nENTRYPOINT []\n")).has_entrypoint is False


def test_arguments_before_from_reach_a_stage_only_when_asked_for() -> None:
    assert image(parse("ARG A=/a\nFROM x\nARG A\nWORKDIR $A\n")).workdir == "/a"
    assert image(parse("ARG A=/a\nFROM x\nWORKDIR /b$A\n")).workdir == "/b"
