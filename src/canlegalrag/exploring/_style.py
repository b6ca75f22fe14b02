"""How the pieces look: in the light and dark theme of a Gradio app, or by themselves."""

from canlegalrag.audit_page import DARK, LIGHT, PIECES

__all__ = ["STYLE"]

_LIGHT = "--gold:#7a4b00;--gold-b:#fff3d1;--found:#0b4f8a;--found-b:#dcebfa;--term-b:#fbe38e;--term:#1b1b1f"
_DARK = "--gold:#f4cc78;--gold-b:#3d2e0c;--found:#9fcbf7;--found-b:#16324d;--term-b:#6b5310;--term:#fff6d8"
_THEME = "--ink:var(--body-text-color,{ink});--line:var(--border-color-primary,{line});"
_THEME += "--band:var(--background-fill-secondary,{band})"

STYLE = f"""
.clr{{{LIGHT};{_LIGHT};{_THEME.format(ink="#1b1b1f", line="#dddde3", band="#f5f3f0")}}}
.dark .clr{{{DARK};{_DARK};{_THEME.format(ink="#ececf0", line="#3a3a42", band="#212127")}}}
.clr{{color:var(--ink);font-size:15px;line-height:1.55;overflow-wrap:anywhere}}
.clr *{{box-sizing:border-box}}
.clr h2{{font-size:1.2rem;margin:.2rem 0;color:var(--ink)}}.clr h3{{font-size:1.02rem;margin:.2rem 0;color:var(--ink)}}
.clr p{{margin:.3rem 0}}.clr a{{color:inherit;text-decoration:underline;text-underline-offset:2px}}
.clr a:focus-visible,.clr summary:focus-visible{{outline:3px solid var(--found);outline-offset:2px}}
.clr .note,.clr .facts,.clr .place,.clr .why{{color:var(--dim);font-size:.9em}}.clr .notice{{font-weight:600}}
.clr ol.hits{{list-style:none;margin:0;padding:0}}
.clr ol.hits>li{{border-top:1px solid var(--line);padding:.6rem 0;margin:0}}
.clr .excerpt{{margin:.3rem 0;padding:.5rem .8rem;background:var(--band);border-left:3px solid var(--line)}}
.clr .excerpt,.clr .whole{{white-space:pre-wrap}}
.clr .rank{{font-variant-numeric:tabular-nums;margin-right:.35rem}}
.clr .badge,.clr .label{{border:1px solid;border-radius:.3rem;padding:0 .35rem;font-weight:700;white-space:nowrap}}
.clr .badge{{font-size:.8em}}.clr .label{{font-size:.72em;user-select:none;margin:0 .15rem}}
.clr .badge.gold,.clr .label.gold{{color:var(--gold);background:var(--gold-b)}}
.clr .badge.found,.clr .label.found{{color:var(--found);background:var(--found-b)}}
.clr mark{{color:inherit;background:none;border-radius:2px}}
.clr mark.term{{color:var(--term);background:var(--term-b);font-weight:700;padding:0 .1rem}}
.clr mark.found{{color:var(--ink);background:var(--found-b)}}
.clr mark.gold{{border-bottom:3px solid var(--gold);background:var(--gold-b)}}
.clr mark.gold.found{{background:var(--found-b)}}
.clr .whole{{border-top:1px solid var(--line);padding-top:.6rem;max-width:50rem}}
.clr .whole [id]{{scroll-margin-top:4rem}}
.clr .columns{{display:grid;grid-template-columns:repeat(2,minmax(0,1fr));gap:0 1.5rem}}
.clr .wide{{overflow-x:auto}}.clr table{{border-collapse:collapse;font-variant-numeric:tabular-nums}}
.clr td,.clr th{{padding:.2rem .6rem;border-bottom:1px solid var(--line);text-align:right}}
.clr td.text,.clr th:first-child{{text-align:left}}
@media(max-width:50rem){{.clr .columns{{grid-template-columns:minmax(0,1fr)}}}}
{PIECES}"""
"""Sheet of all pieces; colours follow Gradio's theme where there is one."""
