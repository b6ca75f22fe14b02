"""Tab 3 in a browser: the table, its filters, cards, plots with their tables, and the link that brings a view back."""

import json
import re
from urllib.parse import urlsplit

import pytest


@pytest.fixture
def board(visit):
    """A visitor before the leaderboard."""

    def come(**how):
        visitor = visit(**how)
        visitor.tab("Leaderboard")
        visitor.table.first.wait_for()
        visitor.idle()
        return visitor

    return come


def heads(visitor) -> list[str]:
    return [head.strip() for head in visitor.page.locator("#leaderboard [role=columnheader]").all_inner_texts()]


def systems(visitor) -> list[str]:
    """The first cell of each row that has a system, in order."""
    rows = visitor.page.locator("#leaderboard [role=row]:has([role=gridcell])")
    return [row.inner_text() for row in rows.all()]


def test_filter_card_and_link(board, visit) -> None:
    visitor = board()
    page = visitor.page
    everyone = systems(visitor)
    assert len(everyone) > 5 and any("bm25l-1024" in row for row in everyone)
    words = page.get_by_label("Systems with the words")
    words.press_sequentially("bm25l")
    page.wait_for_function(
        """() => [...document.querySelectorAll('#leaderboard [role=row]:has([role=gridcell])')]
            .every(row => row.innerText.includes('bm25l'))"""
    )
    visitor.does(lambda: words.press("Backspace"))
    visitor.does(lambda: words.press("l"))
    assert words.input_value() == "bm25l"  # what comes back doesn't overwrite what is being typed
    few = systems(visitor)
    assert 0 < len(few) < len(everyone) and all("bm25l" in row for row in few)
    visitor.does(lambda: visitor.choose("Ranked by", "mrr"))
    link = page.locator("#link textarea, #link input").first.input_value()
    assert link.startswith(visitor.space.url)
    rows = systems(visitor)
    visitor.table.filter(has_text="bm25l").first.click()
    card = page.locator("#card")
    card.get_by_role("heading").first.wait_for()
    assert "bm25l" in card.inner_text()
    there = visit(query="?" + urlsplit(link).query)
    there.table.first.wait_for()
    assert systems(there) == rows
    assert there.page.get_by_label("Systems with the words").input_value() == "bm25l"
    assert there.page.get_by_label("Ranked by", exact=True).input_value() == "mrr"


def test_what_is_chosen_while_an_answer_is_on_its_way_counts(board) -> None:
    visitor = board()
    words = visitor.page.get_by_label("Systems with the words")
    with visitor.held() as waiting:
        words.press_sequentially("bm25l")
        visitor.until(lambda: waiting)
        visitor.choose("Ranked by", "mrr")
    visitor.page.wait_for_function(
        """() => new URLSearchParams(document.querySelector('#link textarea, #link input').value.split('?')[1])
            .get('measure') === 'mrr'"""
    )
    visitor.idle()
    assert words.input_value() == "bm25l"
    assert visitor.page.get_by_label("Ranked by", exact=True).input_value() == "mrr"
    assert all("bm25l" in row for row in systems(visitor))


ROWS = """window.seen = new Set(); new MutationObserver(() => {
  const row = document.querySelector('#leaderboard [role=row]:has([role=gridcell])');
  if (row) window.seen.add(row.innerText);
}).observe(document, {childList: true, subtree: true, characterData: true})"""


def test_a_link_shows_no_other_board_on_the_way(visit) -> None:
    """Nor does its text, which changes when it comes, ask for another."""
    there = visit(query="?measure=mrr&text=bm25l", before=ROWS, slowed=4)
    there.table.first.wait_for()
    there.idle()
    seen = there.page.evaluate("[...window.seen]")
    assert len(seen) == 1 and "bm25l" in seen[0]
    assert there.page.get_by_label("Ranked by", exact=True).input_value() == "mrr"


def test_a_link_counts_for_whoever_opens_the_tab_before_it_does(visit) -> None:
    """Both answers are on their way: whichever comes last, the table is of the measure that is named."""
    there = visit(query="?measure=mrr&text=bm25l", before=ROWS)
    there.tab("Leaderboard")
    there.table.first.wait_for()
    there.idle()
    assert len(there.page.evaluate("[...window.seen]")) == 1
    assert there.page.get_by_label("Ranked by", exact=True).input_value() == "mrr"
    assert "measure=mrr" in there.page.locator("#link textarea, #link input").first.input_value()


def test_no_plot_is_chosen_before_there_is_one(visit) -> None:
    """The board that is on its way says which plot tells its systems apart, and would undo the choice."""
    visitor = visit()
    ranks = visitor.page.get_by_label("rank intervals", exact=True)
    with visitor.held() as waiting:
        visitor.tab("Leaderboard")
        visitor.until(lambda: waiting)
        assert not ranks.is_enabled()
    visitor.table.first.wait_for()
    ranks.check()
    visitor.idle()
    assert ranks.is_checked()


def test_the_card_is_that_of_the_system_that_is_named(board) -> None:
    visitor = board()
    rows = visitor.page.locator("#leaderboard [role=row]:has([role=gridcell])")
    with visitor.held() as waiting:
        for n in (0, 1, 2):
            rows.nth(n).locator("[role=gridcell]").nth(1).click()
            visitor.until(lambda: waiting)
    visitor.idle()
    name = visitor.page.get_by_label("A system's card: choose one here, or click its row").input_value()
    assert name in rows.nth(2).inner_text()
    assert visitor.page.locator("#card h3").inner_text() == name


def test_a_page_from_before_the_server_was_started_again(board) -> None:
    """Such a server knows none of the choices that the page was given; nor does one of five hundred other visitors."""
    visitor = board()
    page = visitor.page
    page.get_by_role("button", name="Kinds of systems, retrievers, columns").click()
    visitor.does(lambda: visitor.choose("Columns", "mrr"))

    def another(route) -> None:
        asked = json.loads(route.request.post_data)
        route.continue_(post_data=json.dumps(asked | {"session_hash": "another"}))

    page.route("**/queue/join*", another)
    page.route(
        "**/queue/data*",
        lambda route: route.continue_(url=re.sub("session_hash=[^&]*", "session_hash=another", route.request.url)),
    )
    visitor.does(lambda: visitor.choose("Ranked by", "mrr"))
    page.wait_for_function(
        """() => document.querySelector('#link textarea, #link input').value.includes('measure=mrr')"""
    )
    assert page.get_by_text("not in the list of choices").count() == 0
    page.unroute_all()


def test_every_plot_has_its_table(board, picture) -> None:
    visitor = board()
    page = visitor.page
    page.get_by_role("button", name="The same as a table").click()
    for name in ("quality and speed", "rank intervals", "subgroups", "chunk sizes", "quality and cost"):
        radio = page.get_by_label(name, exact=True)
        if not radio.is_checked():
            visitor.does(radio.check)
        drawn = page.locator("#plot .js-plotly-plot")
        note = page.get_by_text("nothing to draw here yet")
        drawn.or_(note).first.wait_for()
        if name == "rank intervals":
            drawn.wait_for()
            numbers = page.locator("[role=gridcell]:visible:not(#leaderboard *)")
            numbers.filter(has_text="bm25plus").first.wait_for()
            picture(visitor, "plot", "#plot")


def test_the_board_and_its_columns(board, picture) -> None:
    visitor = board()
    picture(visitor, "board")
    assert "rank" in [head.lower() for head in heads(visitor)]
    before = len(heads(visitor))
    page = visitor.page
    page.get_by_role("button", name="Kinds of systems, retrievers, columns").click()
    visitor.does(lambda: visitor.choose("Columns", "mrr"))
    assert len(heads(visitor)) == before + 1


def test_a_link_of_nonsense_does_no_harm(visit) -> None:
    visitor = visit(query="?measure=<script>alert(1)</script>&plot=%00&columns=../../etc&benchmark=" + 500 * "x")
    visitor.tab("Leaderboard")
    visitor.table.first.wait_for()
    assert "ndcg@10" in heads(visitor) and "../../etc" not in heads(visitor)
