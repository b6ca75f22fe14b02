"""How the audit looks: light and dark, on a desk and on a phone."""

__all__ = ["DARK", "LIGHT", "PIECES", "STYLE"]

LIGHT = """--ink:#1b1b1f;--dim:#5d5d68;--line:#dddde3;--back:#fff;--band:#f5f3f0;
--supported:#1d6b3a;--contradicted:#a31527;--unsupported:#8a5300;--unscored:#5d5d68;
--supported-b:#dcf1e2;--contradicted-b:#fbdcdf;--unsupported-b:#fdecc8;--unscored-b:#e9e9ee"""
"""Colours on a light ground."""

DARK = """--ink:#ececf0;--dim:#a6a6b1;--line:#3a3a42;--back:#17171b;--band:#212127;
--supported:#7fd6a0;--contradicted:#ff98a3;--unsupported:#f2c36b;--unscored:#b4b4c0;
--supported-b:#173524;--contradicted-b:#4a1a21;--unsupported-b:#42300e;--unscored-b:#303038"""
"""Colours on a dark ground."""

PIECES = """
.audit h2{font-size:1.15rem;margin:0}.audit h3{font-size:1rem;margin:1rem 0 .4rem}.audit p{margin:.35rem 0}
.audit a{color:inherit}
.audit .note,.audit .facts,.audit .who,.audit .source,.audit summary{color:var(--dim);font-size:.88em}
.audit .note{max-width:52rem}.audit .supported{--c:var(--supported);--b:var(--supported-b)}
.audit .contradicted{--c:var(--contradicted);--b:var(--contradicted-b)}
.audit .unsupported{--c:var(--unsupported);--b:var(--unsupported-b)}
.audit .unscored{--c:var(--unscored);--b:var(--unscored-b)}
.audit .chip,.audit .tag{color:var(--c);background:var(--b);border-radius:.3rem;padding:.05rem .4rem;white-space:nowrap}
.audit .chip{font-size:.85em}
.audit .tag{font-size:.75em;font-weight:700;text-decoration:none;margin:0 .15rem;padding:.05rem .3rem}
.audit .tag{border:1px solid var(--c)}.audit .count b{color:var(--c);margin-right:.15rem}
.audit .count{white-space:nowrap;font-size:.92em}
.audit mark{color:inherit;background:var(--b);border-bottom:2px solid var(--c);border-radius:2px}
.audit mark.contradicted{border-bottom-style:double;border-bottom-width:4px}
.audit mark.unsupported{border-bottom-style:dashed}.audit mark.unscored{border-bottom-style:dotted}
.audit article{border-top:2px solid var(--line);margin-top:2rem;padding-top:1rem;content-visibility:auto}
.audit article{contain-intrinsic-size:auto 60rem}.audit .question{font-size:1.08em;font-weight:600;max-width:60rem}
.audit .sides{display:grid;grid-template-columns:minmax(0,3fr) minmax(0,2fr);gap:0 2rem}
.audit .text{white-space:pre-wrap;background:var(--band);padding:.7rem .9rem;border-radius:.4rem}
.audit .claim{border-top:1px solid var(--line);padding:.5rem 0;scroll-margin-top:1rem}
.audit .claim:target,.audit .claim:target .name{background:var(--band);outline:2px solid var(--dim);outline-offset:3px}
.audit .name{font-variant-numeric:tabular-nums;margin-right:.3rem}
.audit .ruling{border-left:3px solid var(--c);padding:.1rem 0 .1rem .8rem;margin:.5rem 0}
.audit blockquote{margin:.3rem 0;padding:.3rem .7rem;background:var(--band);white-space:pre-line}
.audit .fault{color:var(--contradicted);font-weight:600}
.audit .human{border:1px solid;border-radius:.3rem;padding:0 .3rem;font-size:.85em}
.audit pre{white-space:pre-wrap;background:var(--band);padding:.5rem;margin:.3rem 0;font-size:.8em;user-select:all}
.audit details{margin:.2rem 0}.audit summary{cursor:pointer}
.audit ul,.audit ol{margin:.3rem 0;padding-left:1.3rem;font-size:.9em}
@media(max-width:50rem){.audit .sides{grid-template-columns:minmax(0,1fr)}}
@media print{.audit details{display:none}}
@media print{.audit mark,.audit .chip,.audit .tag,.audit blockquote,.audit .text{print-color-adjust:exact}}
"""
"""Sheet of an audited answer inside an element of class `audit`, on whatever page it stands."""

STYLE = f"""
:root{{{LIGHT}}}
@media(prefers-color-scheme:dark){{:root{{{DARK}}}}}
*{{box-sizing:border-box}}
body{{font:15px/1.55 system-ui,sans-serif;color:var(--ink);background:var(--back);max-width:84rem;margin:1.5rem auto}}
body{{padding:0 1rem;overflow-wrap:anywhere}}
h1{{font-size:1.4rem}}
.audit nav ol{{list-style:none;padding:0}}
.audit nav li{{display:flex;flex-wrap:wrap;gap:0 1rem;padding:.2rem 0}}
.audit nav li{{border-bottom:1px solid var(--line);max-width:52rem}}.audit nav a{{min-width:6rem}}
@media(max-width:50rem){{body{{margin:.8rem auto;padding:0 .8rem}}}}
{PIECES}"""
"""Sheet of a page of its own."""
