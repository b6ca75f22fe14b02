"""The whole Space at two widths, light and dark: nothing runs out sideways, everything has a name, text can be read."""

from itertools import pairwise

import pytest

CONTRAST = """() => {
  const context = document.createElement('canvas').getContext('2d', {willReadFrequently: true});
  const rgba = (colour) => {
    context.clearRect(0, 0, 1, 1); context.fillStyle = colour; context.fillRect(0, 0, 1, 1);
    const [r, g, b, a] = context.getImageData(0, 0, 1, 1).data; return [r, g, b, a / 255];
  };
  const over = (top, under) => top.slice(0, 3).map((one, n) => one * top[3] + under[n] * (1 - top[3]));
  const light = (colour) => colour.map((one) => one / 255)
    .map((one) => one <= 0.04045 ? one / 12.92 : ((one + 0.055) / 1.055) ** 2.4)
    .reduce((sum, one, n) => sum + one * [0.2126, 0.7152, 0.0722][n], 0);
  const ground = (node) => {
    const layers = [];
    for (let one = node; one; one = one.parentElement) layers.push(rgba(getComputedStyle(one).backgroundColor));
    return layers.reverse().reduce((under, top) => over(top, under), [255, 255, 255]);
  };
  const faint = new Set();
  for (const node of document.querySelectorAll('body *')) {
    const own = [...node.childNodes].some((one) => one.nodeType === 3 && one.textContent.trim());
    const size = parseFloat(getComputedStyle(node).fontSize), style = getComputedStyle(node);
    if (!own || !node.checkVisibility({opacityProperty: true, visibilityProperty: true})) continue;
    if (node.closest('svg, :disabled, script, style, [aria-hidden=true]')) continue;
    if (!node.getBoundingClientRect().width) continue;
    const large = size >= 24 || (size >= 18.66 && style.fontWeight >= 700);
    const back = ground(node), a = light(back), b = light(over(rgba(style.color), back));
    const ratio = (Math.max(a, b) + 0.05) / (Math.min(a, b) + 0.05);
    if (ratio >= (large ? 3 : 4.5)) continue;
    faint.add(`${ratio.toFixed(1)} ${node.tagName} ${node.textContent.trim().slice(0, 40)}`);
  }
  return [...faint];
}"""
HEADINGS = """() => [...document.querySelectorAll('h1,h2,h3,h4,h5,h6')]
  .filter((one) => one.checkVisibility()).map((one) => Number(one.tagName[1]))"""
PICTURES = """() => [...document.querySelectorAll('img, [role=img]')]
  .filter((one) => one.checkVisibility() && !one.closest('[aria-hidden=true]'))
  .filter((one) => !one.hasAttribute('alt') && !one.getAttribute('aria-label'))
  .map((one) => one.outerHTML.slice(0, 200))"""
NAMED = {
    *("button", "checkbox", "combobox", "grid", "link", "listbox", "radio", "searchbox", "slider"),
    *("spinbutton", "tab", "textbox"),
}
"""Roles that say nothing to a listener without a name."""


def nameless(visitor) -> list[str]:
    """What a screen reader couldn't tell."""
    session = visitor.page.context.new_cdp_session(visitor.page)
    nodes = session.send("Accessibility.getFullAXTree")["nodes"]
    session.detach()
    roles = [n["role"]["value"] for n in nodes if not n["ignored"] and not n.get("name", {}).get("value", "").strip()]
    return [role for role in roles if role in NAMED]


@pytest.mark.parametrize("dark", [False, True], ids=["light", "dark"])
@pytest.mark.parametrize("width", [1280, 390])
def test_every_page(visit, picture, width: int, dark: bool) -> None:
    visitor = visit(width=width, dark=dark)
    page = visitor.page
    kind = f"{'wide' if width > 1000 else 'phone'}-{'dark' if dark else 'light'}"
    faults: list[str] = []

    def look(name: str) -> None:
        picture(visitor, f"{kind}-{name}")
        within = page.evaluate("[document.scrollingElement.scrollWidth, innerWidth]")
        faults.extend([f"{name}: {within[0]} pixels wide"] * (within[0] > within[1]))
        faults.extend(f"{name}: too faint: {one}" for one in page.evaluate(CONTRAST))
        faults.extend(f"{name}: nameless {one}" for one in nameless(visitor))
        faults.extend(f"{name}: a picture without words: {one}" for one in page.evaluate(PICTURES))
        levels = page.evaluate(HEADINGS)
        steps = pairwise(levels)
        if levels[:1] != [1] or any(after > before + 1 for before, after in steps):
            faults.append(f"{name}: headings {levels}")

    visitor.choose("Retriever", "bm25l-1024")
    visitor.pick("We are retained by an individual homeowner")
    visitor.search()
    look("results")
    page.locator("#results .hits h3 a").first.click()
    page.wait_for_function("document.activeElement.matches('#decision h2')")
    look("decision")
    visitor.tab("Answer")
    visitor.button("Write an answer and judge it").click()
    page.locator("#answered .audit").wait_for()
    page.locator("#answered details.claim > summary").first.click()
    look("answer")
    visitor.does(lambda: visitor.tab("Variations"))
    look("variations")
    visitor.tab("Check and submit")
    visitor.button("A flawed one").click()
    visitor.said("check-status")
    page.locator("#problems [role=gridcell]").first.wait_for()
    look("check")
    visitor.tab("Leaderboard")
    visitor.table.first.wait_for()
    page.get_by_label("rank intervals", exact=True).check()
    page.locator("#plot .js-plotly-plot").wait_for()
    look("board")
    assert not faults, "\n".join(dict.fromkeys(faults))
