"""References between pages, and from code to pages, lead somewhere."""

import functools
import re
from pathlib import Path

import public

import bounds
import spherapprox
from bounds.theorems import THEOREMS

ROOT = Path(__file__).parents[2]
FOLDER = ROOT / "docs" / "theorems"
PAGES = {path.name: path.read_text(encoding="utf-8") for path in sorted(FOLDER.glob("*.md"))}
TEXTS = [*(ROOT / "docs").rglob("*.md"), *ROOT.glob("*.md")]
SOURCES = [path for name in ("spherapprox", "bounds", "tests", "benchmarks") for path in (ROOT / name).rglob("*.py")]
SECTIONS = ("Statement", "Hypotheses", "Proof", "Functions")
NUMBER = r"(?:10|\d)\.(?:\d+|[A-Z])"
PAGE = rf"(?:docs/theorems/)?((?:\d|{NUMBER})-[a-z-]+\.md)"
SPANS = re.compile(r"```.*?```|\$\$.*?\$\$|\$[^$]*\$|`[^`]*`", re.DOTALL)  # code and mathematics hold no links

QUOTES = (r'"""(?:[^\\]|\\.)*?"""', r"'''(?:[^\\]|\\.)*?'''", r'"(?:[^"\\\n]|\\.)*"', r"'(?:[^'\\\n]|\\.)*'")
TREES = re.compile(r"^```\{toctree\}$(.*?)^```$", re.DOTALL | re.MULTILINE)
LITERALS = re.compile("|".join((*QUOTES, r"#[^\n]*")), re.DOTALL)  # Python's tokenizer takes seconds


@functools.cache
def headings(text):
    return re.findall(r"^#+ (.*)$", text, re.MULTILINE)


def anchors(text):
    """Return the anchors that GitHub and MyST give to headings."""
    return {re.sub(r"[^\w\- ]", "", title.lower()).replace(" ", "-") for title in headings(text)}


def links(text):
    return re.findall(r"\]\(([^)\s]+)\)", SPANS.sub("", text))


def mislabelled(path, text):
    """Yield the links named by a number that their page, or their heading, does not have."""
    for number, page, anchor in re.findall(rf"\[({NUMBER})\]\(([\w.-]*)(?:#([\w-]*))?\)", text):
        titles = headings((path.parent / page if page else path).read_text(encoding="utf-8"))
        aimed = [title for title in titles if not anchor or anchor in anchors(f"# {title}")]
        if number not in numbers("\n".join(f"# {title}" for title in titles)) or (
            anchor and {number} != (numbers(f"# {aimed[0]}") or {number})
        ):
            yield f"{path.name}: [{number}]({page}#{anchor})"


@functools.cache
def numbers(text):
    """Return the numbers of theorems that a page's headings begin with."""
    return {match[0] for title in headings(text) if (match := re.match(rf"{NUMBER}(?=[ .])|\d(?=\. )", title))}


@functools.cache
def numbered():
    """Return the pages by the numbers in their headings."""
    return {number: page for page in PAGES.values() for number in numbers(page)}


def dead_links(path, text):
    """Yield the relative links of a page whose file or heading is missing."""
    for link in links(text):
        page, _, anchor = link.partition("#")
        goal = path.parent / page if page else path
        if not link.startswith("http") and (
            not goal.is_file() or (anchor and anchor not in anchors(goal.read_text(encoding="utf-8")))
        ):
            yield f"{path.name}: {link}"


def prose(path):
    """Return the comments, docstrings and other texts of several lines of a file, one a line."""
    return "\n".join(s for s in LITERALS.findall(path.read_text(encoding="utf-8")) if s.startswith(("#", '"""')))


def has_part(text, part):
    """Tell whether a page has a heading, a run in italics, a label or a formula's number of this name."""
    named = (title for names in re.findall(r"^#+ (.*)|\*([^*]+)\*", text, re.MULTILINE) for title in names if title)
    label = f"({part})" in text or rf"\tag{{{part}}}" in text
    return label or any(re.match(rf"(the )?{part}\b", title.lower()) for title in named)


def dead_numbers(text):
    """Yield the numbers, and their parts, that comments and docstrings cite without a page and none has."""
    pages_of = numbered()
    text = "\n".join(line for line in text.splitlines() if not re.search(r"\bTheorems? \d", line))  # the thesis's
    label = r" \(([a-z]+|\d)\)"
    cited = re.findall(rf"(?:^# |\()({NUMBER})(?:, ([A-Za-z][\w -]*)|{label})?(?=:|\))", text, re.MULTILINE)
    cited += [(number, part, "") for number, part in re.findall(rf"(?<![\w./-])({NUMBER}){label}", text)]
    cited += [(number, "", "") for number in re.findall(r"(?<![\w.])\d\.[A-Z](?![\w-])", text)]
    for number, words, letter in cited:
        part = (words or letter).lower()
        if not re.match(r"0|\d\.[05]$", number) and not (
            number in pages_of and (not part or has_part(pages_of[number], part))
        ):
            yield f"{number} {part}".strip()


def dead_references(text):
    """Yield what code cites of the pages and none of them has: a page, a number, or a part in parentheses."""
    yield from (path for path in re.findall(r"docs/theorems/[\w.-]*\.md", text) if Path(path).name not in PAGES)
    for page, number, part in re.findall(rf"{PAGE}(?:,\s+({NUMBER})(?![\w-]))?(?:,?\s+\(([a-z]+)\))?", text):
        if (
            page not in PAGES
            or (number and number not in numbers(PAGES[page]))
            or (part and not has_part(PAGES[page], part))
        ):
            yield f"{page} {number} {part}".strip()
    pages_of = {number for page in PAGES.values() for number in numbers(page)}
    yield from (n for n in re.findall(rf'^\s*"""({NUMBER})(?: \([a-z]+\))?: ', text, re.MULTILINE) if n not in pages_of)


def test_pages_have_one_title_and_all_sections():
    for name, text in PAGES.items():
        assert len(re.findall(r"^# ", text, re.MULTILINE)) == 1, name
        sections = SECTIONS if re.match(NUMBER, name) else SECTIONS[-1:] if name != "index.md" else ()
        assert [title for title in headings(text) if title in SECTIONS] == list(sections), name
        assert all(re.search(rf"^## {section}\n\n\S", text, re.MULTILINE) for section in sections), name


def test_a_number_belongs_to_one_page():
    numbers_stated = [number for text in PAGES.values() for number in numbers(text)]
    assert len(numbers_stated) == len(set(numbers_stated)) > 45
    assert all(name.partition("-")[0] in numbers(text) for name, text in PAGES.items() if name != "index.md")


def test_relative_links_lead_to_files_and_headings():
    assert not [fault for path in TEXTS for fault in dead_links(path, path.read_text(encoding="utf-8"))]


def test_links_named_by_a_number_lead_to_it():
    assert not [fault for name, text in PAGES.items() for fault in mislabelled(FOLDER / name, text)]


def test_the_index_lists_every_page():
    listed = re.findall(r"^\| \[([\d.A-Z]+)\]\((\S+)\)", PAGES["index.md"], re.MULTILINE)
    rows = [page for _, page in listed]
    lost = sorted(set(PAGES) - {"index.md", *rows})
    assert not lost, "pages without a row in docs/theorems/index.md"
    assert len(rows) == len(set(rows)), "two rows for a page"
    assert all(page.startswith(f"{number}-") for number, page in listed)


def test_every_page_is_in_a_table_of_contents():
    # those of theorems get one from their rows in the index
    pages = [path for folder in ("docs", "docs/how-to", "docs/api") for path in (ROOT / folder).glob("*.md")]
    listed = set()
    for path in pages:
        for tree in TREES.findall(path.read_text(encoding="utf-8")):
            names = re.findall(r"^(?:.*<)?([\w/-]+)>?$", tree, re.MULTILINE)
            listed |= {(path.parent / f"{name}.md").resolve() for name in names}
    lost = {path.relative_to(ROOT).as_posix() for path in pages if path.resolve() not in listed} - {"docs/index.md"}
    assert not lost, "pages that no {toctree} names"


def test_the_reference_names_everything_public():
    named = {
        name
        for path in (ROOT / "docs/api").glob("*.md")
        for name in public.list_attributes(path.read_text(encoding="utf-8"))
    }
    tops = {name.rpartition(".")[2] for name in named if name.count(".") == 1}  # theirs are documented there
    names = [name for name, _ in public.list_public(spherapprox, bounds)]
    lost = [name for name in names if name not in named and name.rpartition(".")[2] not in tops]
    assert not lost, "public names that no page of docs/api names"


def test_every_page_of_a_theorem_names_its_functions():
    for name, text in PAGES.items():
        assert name == "index.md" or re.search(r"`(spherapprox|bounds)\.", text.partition("## Functions")[2]), name


def test_theorems_and_files_that_pages_name_exist():
    names = {*THEOREMS, "sharp", "thesis", "sharp-split", "lower"}
    for page, text in PAGES.items():
        assert not {*re.findall(r"[\"`=]\"((?:thesis|sharp|lower)[\w-]*)\"", text)} - names, page
        assert all((ROOT / path).is_file() for path in re.findall(r"`((?:tests|benchmarks)/[\w/]+\.\w+)", text)), page


def test_mathematics_has_no_emphasis_in_it():
    # renderers that read Markdown first take * and, after a bracket, _ for emphasis, and drop a \\ before punctuation
    for page, text in PAGES.items():
        for formula in re.findall(r"\$\$.*?\$\$|\$[^$]*\$", re.sub(r"`[^`]*`", "", text), re.DOTALL):
            assert not re.search(r"\*|[^\w\s]_\S|\\[^\w\s]|^\$[^$]+\n", formula), f"{page}: {formula}"


def test_references_in_code_lead_to_pages():
    faults = {path: [*dead_references(path.read_text(encoding="utf-8"))] for path in SOURCES if path != Path(__file__)}
    assert not {path: dead for path, dead in faults.items() if dead}


def test_numbers_in_comments_and_docstrings_are_those_of_pages():
    faults = {path: [*dead_numbers(prose(path))] for path in SOURCES if path != Path(__file__)}
    assert not {path: dead for path, dead in faults.items() if dead}


def test_code_cites_pages_and_not_the_folder_of_old():
    old = "docs/" + "theorems.md"
    assert not [path for path in [*SOURCES, ROOT / "setup.cfg"] if old in path.read_text(encoding="utf-8")]


def test_every_bound_carries_its_page():
    covers = bounds.covering_number(0.1, dim=8), bounds.covering.covering_radius(100, dim=8)
    error = bounds.error_bound(dim=8, theorem="convolution", lipschitz=1.0, concentration=100.0)
    for reference in {record.reference for record in (*bounds.ladder(0.1, dim=8), *covers, error, *THEOREMS.values())}:
        assert re.search(rf"docs/theorems/{PAGE}", reference), reference
        assert not [*dead_references(reference)], reference
