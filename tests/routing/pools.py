"""Small real pools for the tests of routing."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

from workbench.skills.pool import Pool
from workbench.skills.writer import text_entry, write_pool

SKILLS = {
    "gt/pdf-tables": (
        "pdf-tables",
        "Extract tables from PDF files",
        "Open the PDF, find the tables, write CSV.",
    ),
    "gt/mesh-analysis": ("mesh-analysis", "Measure 3D meshes", "Load the STL mesh; compute its volume."),
    "data/csv-clean": ("csv-clean", "Clean CSV data", "Drop duplicates. Fill missing values. Write CSV."),
    "data/charts": ("charts", "Draw charts from tables", "Plot a table as a bar chart or a line chart."),
    "data/copy-a": ("copy", "A copy", "Byte for byte the same advice about invoices."),
    "data/copy-b": ("copy", "A copy", "Byte for byte the same advice about invoices."),
    "data/copy-c": ("copy", "A copy", "Byte for byte the same advice about invoices."),
    "web/scraper": ("web-scraper", "Fetch pages", "Download pages and extract the text and the tables."),
    "zh/表格": ("表格处理", "处理表格数据", "读取表格数据并生成图表。"),
    "misc/bare": ("bare", "", ""),
}


def write(path: Path, skills: dict[str, tuple[str, str, str]] = SKILLS, order: Iterable[str] = ()) -> Pool:
    """Write a pool, its entries in the given order, and open it."""
    entries = [text_entry(skill, *skills[skill]) for skill in order or skills]
    write_pool(path, path.stem, entries)
    return Pool(path)
