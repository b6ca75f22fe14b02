"""Tab 1 in a browser: search, compare, open decisions, answers, variations; by keyboard, and for odd questions."""

import re

import pytest

from canlegalrag import load


def test_a_question_of_ones_own_shows_what_matched(visit) -> None:
    visitor = visit()
    visitor.ask("may the landlord keep the deposit?")
    hits = visitor.page.locator("#results .hits > li")
    hits.first.wait_for()
    assert hits.count() == 10
    assert visitor.said("search-status") == "10 decisions found by bm25."
    first = hits.first.inner_text()
    assert "score" in first and "characters" in first and re.search(r"Matches .*deposit", first)
    assert "deposit" in [word.lower() for word in hits.first.locator("mark.term").all_inner_texts()]
    assert visitor.page.locator("#results .badge.gold").count() == 0  # nobody knows the gold of one's own question


def test_a_query_of_the_benchmark_has_gold_and_scores(visit, picture) -> None:
    visitor = visit()
    visitor.pick()
    visitor.search()
    results = visitor.page.locator("#results")
    results.locator(".hits > li").first.wait_for()
    assert results.locator(".badge.gold").count() >= 1
    assert results.locator("table th").all_inner_texts()[:2] == ["ndcg@10", "recall@10"]
    assert all(float(cell) >= 0 for cell in results.locator("table td").all_inner_texts())
    picture(visitor, "results", "#found")


def test_two_retrievers_side_by_side(visit, picture) -> None:
    visitor = visit()
    visitor.choose("beside it, to compare", "bm25l-1024")
    visitor.ask("may the landlord keep the deposit?")
    columns = visitor.page.locator("#results .columns > section")
    columns.first.wait_for()
    assert [one.locator("h2").inner_text() for one in columns.all()] == ["bm25", "bm25l-1024"]
    assert visitor.page.locator("#results h2").first.inner_text() == "What moved"
    assert visitor.said("search-status") == "10 decisions found by bm25, 10 by bm25l-1024."
    picture(visitor, "compare", "#found")


def test_a_decision_opens_with_its_marks_and_leads_to_others(visit, picture) -> None:
    visitor = visit()
    visitor.choose("Retriever", "bm25l-1024")
    visitor.pick("We are retained by an individual homeowner")
    visitor.search()
    page = visitor.page
    gold = page.locator("#results .hits > li", has=page.locator(".badge.gold")).first.locator("h3 a")
    name = gold.inner_text()
    gold.click()
    heading = page.locator("#decision h2")
    heading.wait_for()
    assert heading.inner_text() == name
    page.wait_for_function("document.activeElement.matches('#decision h2')")
    assert page.locator("#decision mark.gold").count() >= 1 and page.locator("#decision mark.found").count() >= 1
    assert page.locator("#decision .label.gold").first.inner_text() == "gold"  # a label, not only a colour
    page.get_by_role("link", name="gold 1", exact=True).click()
    picture(visitor, "decision")
    cited = page.locator("#decision .whole a[data-doc]").first
    cited.click()
    page.wait_for_function("name => document.querySelector('#decision h2').textContent.trim() !== name", arg=name)


def test_an_answer_shows_claims_verdicts_and_evidence(visit, picture) -> None:
    visitor = visit()
    visitor.pick()
    visitor.search()
    visitor.tab("Answer")
    visitor.button("Write an answer and judge it").click()
    answer = visitor.page.locator("#answered .audit")
    answer.wait_for()
    assert answer.locator("details.claim").count() >= 1
    claim = answer.locator("details.claim:has(blockquote)").first
    assert claim.locator(".chip").first.inner_text() in {"✓ supported", "✗ contradicted", "? unsupported"}
    assert not claim.locator("blockquote").first.is_visible()
    claim.locator("> summary").click()
    claim.locator("blockquote").first.wait_for()
    assert " at " in claim.locator(".source").first.inner_text()  # which decision, and where in it
    picture(visitor, "answer", "#answered article")


def test_an_answer_that_comes_after_another_search_is_not_shown_for_it(visit) -> None:
    visitor = visit()
    visitor.ask("may the landlord slowly keep the deposit?")
    visitor.page.get_by_role("tab", name="Answer", exact=True).click()
    visitor.button("Write an answer and judge it").click()
    visitor.page.get_by_label("or your own question").fill("notice of termination")
    visitor.button("Search").click()
    visitor.page.locator("#results", has_text="termination").first.wait_for()
    visitor.page.wait_for_timeout(5000)  # longer than that answer takes
    visitor.idle()
    assert visitor.page.locator("#answered .audit").count() == 0


def test_a_query_chosen_while_the_server_is_busy_is_what_is_searched_for(visit) -> None:
    visitor = visit()
    visitor.ask("may the landlord keep the deposit?")
    first, second = (query for query in load("sample").queries.values() if query.id in {"b1-q1", "b2-q1"})
    text = visitor.page.get_by_label("or your own question")
    with visitor.held() as waiting:
        visitor.button("Search").click()
        visitor.until(lambda: waiting)
        for query in (first, second):
            visitor.choose("A query of the benchmark", re.compile(re.escape(query.text[:100])))
        visitor.button("Search").click()
    visitor.page.locator("#results table").first.wait_for()  # of scores, which only a query of the benchmark has
    assert second.text[:60] in visitor.page.locator("#results .note").first.inner_text()
    assert text.input_value() == second.text
    text.fill("my own words")
    visitor.choose("List queries from", second.province)
    assert second.text[:60] in visitor.page.get_by_label("A query of the benchmark", exact=True).input_value()
    assert text.input_value() == "my own words"


def test_queries_are_listed_by_province_and_voice_at_once(visit) -> None:
    visitor = visit()
    queries = load("sample").queries.values()
    one = next(iter(queries))
    with visitor.held():
        visitor.choose("List queries from", one.province)
        visitor.choose("in the voice", one.persona)
        box = visitor.page.get_by_label("A query of the benchmark", exact=True)
        box.click()
        listed = visitor.page.get_by_role("option").all_inner_texts()
        visitor.page.get_by_role("option").last.click()
        chosen = box.input_value()
    visitor.idle()
    fit = [query for query in queries if (query.province, query.persona) == (one.province, one.persona)]
    assert len(listed) == len(fit) < len(queries) and box.input_value() == chosen
    assert visitor.page.locator("#question textarea").input_value() == fit[-1].text


@pytest.mark.parametrize("many", [2, 3])
def test_of_many_clicks_the_last_decides(visit, many: int) -> None:
    """Searches, decisions and variations: an answer that is on its way costs nobody what they chose after it."""
    visitor = visit()
    page = visitor.page
    visitor.pick()
    visitor.search()
    with visitor.held() as waiting:
        for k in range(1, 1 + many):
            page.locator("input[type=number]").first.fill(str(k))
            page.keyboard.press("Tab")
            visitor.button("Search").press("Enter")
            visitor.until(lambda: waiting)
    visitor.idle()
    assert page.locator("#results .hits > li").count() == many
    names = page.locator("#results .hits a").all_inner_texts()
    with visitor.held() as waiting:
        for n in range(many):
            page.locator("#results .hits a").nth(n).press("Enter")
            visitor.until(lambda: waiting)
    visitor.idle()
    assert page.locator("#decision h2").inner_text() == names[many - 1]
    visitor.does(lambda: visitor.tab("Variations"))
    radios = page.get_by_role("tabpanel").get_by_role("radio", name=re.compile("b[0-9]-q[0-9]"))
    with visitor.held() as waiting:
        for n in range(1, 1 + many):
            radios.nth(n).check()
            visitor.until(lambda: waiting)
    visitor.idle()
    asked = load("sample").queries[radios.nth(many).get_attribute("value")]
    assert asked.text[:60] in page.locator("#stepped .columns > section").last.inner_text()


def test_an_answer_reads_what_was_chosen_last(visit) -> None:
    visitor = visit()
    visitor.pick()
    visitor.search()
    visitor.tab("Answer")
    with visitor.held() as waiting:
        visitor.button("Write an answer and judge it").click()
        visitor.until(lambda: waiting)
        visitor.page.get_by_label("oracle", exact=True).check()
        visitor.button("Write an answer and judge it").click()
    visitor.idle()
    known = load("sample")
    gold = known.qrels[next(iter(known.queries))]
    assert f"from {len(gold)} decision" in visitor.page.locator("#answered .note").first.inner_text()


def test_the_variations_of_a_block(visit, picture) -> None:
    visitor = visit()
    visitor.pick()
    visitor.search()
    visitor.tab("Variations")
    page = visitor.page
    radios = page.get_by_role("tabpanel").get_by_role("radio", name=re.compile("b[0-9]-q[0-9]"))
    radios.last.wait_for()
    assert radios.count() == 8
    radios.last.click()
    page.locator("#stepped .columns").wait_for()
    assert page.locator("#stepped .columns > section").count() == 2
    picture(visitor, "variations", "#found")


def test_by_keyboard_alone(visit) -> None:
    visitor = visit()
    page = visitor.page
    at = "document.activeElement"
    seen = []

    def tab_to(condition: str) -> None:
        for _ in range(40):
            page.keyboard.press("Tab")
            seen.append(page.evaluate(f"{at}.getAttribute('aria-label') || {at}.innerText || {at}.tagName"))
            assert not page.locator("ul[role=listbox]:visible").nth(1).count()  # lists close behind one
            style = page.evaluate(
                f"(() => {{const s = getComputedStyle({at}); return [s.outlineStyle, s.boxShadow]}})()"
            )
            assert style != ["none", "none"], f"the focus on {seen[-1]} can't be seen"
            if page.evaluate(f"{at}.matches({condition!r})"):
                return
        pytest.fail(f"never reached {condition}: {seen}")

    tab_to("#question textarea")
    page.keyboard.type("who must repair the roof")
    tab_to("#search")
    page.keyboard.press("Enter")
    page.locator("#results .hits > li").first.wait_for()
    tab_to("#results a[data-doc]")
    name = page.evaluate(f"{at}.textContent")
    page.keyboard.press("Enter")
    page.wait_for_function(f"{at}.matches('#decision h2')")
    assert page.evaluate(f"{at}.textContent") == name


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("", 0),
        ("😀😀 🏚️", 0),
        ("<script>alert(1)</script><img src=x onerror=alert(1)> deposit", 10),
        ("‮deposit‬ \x07 ＤＥＰＯＳＩＴ é́́", 5),
    ],
    ids=["empty", "emoji", "script", "odd"],
)
def test_odd_questions(visit, text: str, found: int) -> None:
    visitor = visit()
    visitor.ask(text)
    assert visitor.said("search-status").startswith(f"{found} decisions found")
    assert visitor.page.locator("#results .hits > li").count() == found


def test_a_question_of_100_000_characters(visit) -> None:
    """The box takes no more than is searched for; visitors without our page are cut off by the library."""
    visitor = visit()
    visitor.ask("deposit " * 12_500)
    assert len(visitor.page.locator("#question textarea").input_value()) <= 100_000
    assert visitor.said("search-status") == "5 decisions found by bm25."
