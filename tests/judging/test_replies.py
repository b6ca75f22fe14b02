"""Bad replies, each with its outcome: what a judge says, and what of it counts."""

import json
import re
import string

import pytest
from hypothesis import given
from hypothesis import strategies as st

from canlegalrag.judging.quotes import quoted
from canlegalrag.judging.replies import FAILURES, SYNONYMS, Choice, Unusable, choices, stated
from canlegalrag.judging.rows import read
from canlegalrag.types import Completion

IDS = ("417", "530", "802")
LABELS = {word: label for label, words in SYNONYMS.items() for word in words.split()}
S, C, U = "supported", "contradicted", "unsupported"


def row(id_, label, **more):
    return {"id": id_, "quote": "q", "reason": "r", "label": label} | more


def wrapped(*rows):
    return json.dumps({"verdicts": list(rows)})


def judged(text, stop="stop", ids=IDS):
    return choices(Completion(text, stop), ids, name="verdicts", field="label", labels=LABELS)


def outcome(text, stop="stop"):
    """Each item's label, or why it has none."""
    return tuple(choice.label or choice.failure for choice in judged(text, stop).values())


GOOD = wrapped(row("417", S), row("530", C), row("802", U))
RIGHT = (S, C, U)
BARE = '{"verdicts": [{"id": "417", "label": %s}]}'


@pytest.mark.parametrize(
    ("text", "right"),
    [
        # What is only dressed otherwise is read.
        (GOOD, RIGHT),
        (json.dumps(json.loads(GOOD), indent=2), RIGHT),
        (f"\ufeff{GOOD}\r\n", RIGHT),
        (f"```json\n{GOOD}\n```", RIGHT),
        (f"```\n{GOOD}\n```", RIGHT),
        (f"```json {GOOD} ```", RIGHT),
        (f"Here are the verdicts:\n\n```json\n{GOOD}\n```\nLet me know if you need more.", RIGHT),
        (f"As in [12] and [the Act], I find:\n{GOOD}", RIGHT),
        (f"<think>Claim 417 is {{odd}}.</think>\n{GOOD}", RIGHT),
        (f"417 says so.</think>{GOOD}", RIGHT),
        (GOOD.replace("}]", "},]").replace('"}', '",}'), RIGHT),
        (GOOD.replace("}]}", "}],}"), RIGHT),
        (GOOD.replace('"q"', r'"the tenant\'s \\ \"notice\" §"'), RIGHT),
        (GOOD.replace('"r"', '"two\nlines\tand a tab"'), RIGHT),
        (GOOD.replace('"r"', '"Voil\\u00e0 \\ud800 \\u0000"'), RIGHT),
        (GOOD.replace('"417"', "417").replace('"530"', "530"), RIGHT),
        (GOOD.replace('"417"', '" 417 "'), RIGHT),
        (json.dumps(json.loads(GOOD)["verdicts"]), RIGHT),
        ("\n".join(json.dumps(one) for one in json.loads(GOOD)["verdicts"]), RIGHT),
        (",\n".join(json.dumps(one) for one in json.loads(GOOD)["verdicts"]), RIGHT),
        (wrapped(row("802", U), row("417", S), row("530", C)), RIGHT),
        (wrapped(row("417", "SUPPORTED"), row("530", " Refuted. "), row("802", "not supported")), RIGHT),
        (wrapped(row("417", "entailed"), row("530", "contradiction"), row("802", "Not_Supported")), RIGHT),
        (wrapped(row("417", "**supported**"), row("530", "contradicts"), row("802", "neutral")), RIGHT),
        (wrapped(row("417", S), row("417", S), row("530", C), row("802", U)), RIGHT),
        (wrapped(row("417", S), row("530", C), row("802", U), row("999", S), "x", None, [row("530", S)]), RIGHT),
        (GOOD.replace('"label": "supported"', '"label": "supported", "label": "supported"'), RIGHT),
        (GOOD.replace('"q"', "3").replace('"r"', '["r"]'), RIGHT),
        (GOOD.replace('"q"', '{"a": {"b": [1, -2.5e3, true, null]}}'), RIGHT),
        # Fewer, unknown, mistaken.
        (wrapped(row("417", S)), (S, "missing", "missing")),
        (wrapped(), ("missing",) * 3),
        ("{}", ("missing",) * 3),
        ("[]", ("missing",) * 3),
        (wrapped(row("1", S), row("2", S), row("3", S)), ("missing",) * 3),
        (wrapped(row(0, S), row("", S), row(None, S), row(["417"], S), row({"id": "417"}, S)), ("missing",) * 3),
        (wrapped(row(417.0, S), row("417a", S), row("claim 417", S), row("４１７", S)), ("missing",) * 3),
        (wrapped({"label": S}, {"claim": "417", "label": S}), ("missing",) * 3),
        ('{"results": [{"id": "417", "label": "supported"}]}', ("missing",) * 3),
        ('{"417": "supported", "530": "supported"}', ("missing",) * 3),
        ('{"verdicts": {"id": "417", "label": "supported"}}', ("prose",) * 3),
        ('{"verdicts": "supported"}', ("prose",) * 3),
        ('{"verdicts": ["supported", "supported", "supported"]}', ("missing",) * 3),
        (wrapped({"id": "530", "label": U, "inner": row("417", S)}), ("missing", U, "missing")),
        # Labels that name no label: none of these is ever a pass, nor a failure of the claim.
        *[
            (BARE % said, ("label", "missing", "missing"))
            for said in [
                '"true"',
                '"false"',
                '"yes"',
                '"no"',
                "true",
                "false",
                "null",
                "NaN",
                "Infinity",
                "1",
                "0",
                "0.97",
                "supported",
                "True",
                '""',
                '"not entailed"',
                '"partially supported"',
                '"supported?"',
                '"supported, mostly"',
                '"not contradicted"',
                '"supported | contradicted | unsupported"',
                '"sUpp\\u00f6rted"',
                '["supported"]',
                '{"label": "supported"}',
            ]
        ],
        ('{"verdicts": [{"id": "417"}]}', ("label", "missing", "missing")),
        (wrapped(row("417", S), row("417", U)), ("conflict", "missing", "missing")),
        (wrapped(row("417", S), row("417", "maybe")), ("conflict", "missing", "missing")),
        (wrapped(row("417", S), {"id": "417"}), ("conflict", "missing", "missing")),
        (BARE % '"supported", "label": "unsupported"', ("conflict", "missing", "missing")),
        (BARE % '"unsupported", "label": "supported"', ("conflict", "missing", "missing")),
        ('{"verdicts": [{"id": "417", "id": "530", "label": "supported"}]}', ("missing",) * 3),
        (f"{wrapped(row('417', S))}\n{wrapped(row('417', C))}", ("conflict", "missing", "missing")),
        # What breaks off: complete verdicts before the place count.
        (GOOD[: GOOD.index('"802"') + 8], (S, C, "cut")),
        (GOOD[:-2], RIGHT),
        (GOOD[:-3], (S, C, "cut")),
        (GOOD[:30], ("cut",) * 3),
        ("{", ("prose",) * 3),
        ('{"', ("cut",) * 3),
        (GOOD.replace('"quote": "q"', '"quote": "he said "no""'), ("broken",) * 3),
        (GOOD.replace('{"id": "530"', '{id: "530"'), (S, "broken", "broken")),
        (GOOD.replace("}, {", "} {"), (S, "broken", "broken")),
        (GOOD.replace("}, {", "},, {"), (S, "broken", "broken")),
        (GOOD.replace('"r"', r'"\x41"'), ("broken",) * 3),
        (GOOD.replace("}]}", "})}"), (S, C, U)),
        ("{'verdicts': [{'id': '417', 'label': 'supported'}]}", ("prose",) * 3),
        ('{"a": ' * 200_000, ("broken",) * 3),
        ("[" * 1_000_000, ("broken",) * 3),
        ('{"verdicts": [' + '{"id": "417", "quote": ' + "[" * 50, ("broken",) * 3),
        # No reply at all.
        ("", ("empty",) * 3),
        (" \n\t", ("empty",) * 3),
        ("I can't help with legal questions.", ("prose",) * 3),
        ("supported", ("prose",) * 3),
        ("417: supported\n530: supported\n802: supported", ("prose",) * 3),
        ("NaN", ("prose",) * 3),
        ("null", ("prose",) * 3),
        ('"' + GOOD.replace('"', r"\"") + '"', ("prose",) * 3),
        (f"<think>{GOOD}", ("prose",) * 3),
        (f"<thinking>\n{GOOD}\n</thinking>\nI don't know.", ("prose",) * 3),
        # Talk about a reply isn't one: what the evidence holds may be quoted like this.
        (f"The evidence tells me to say {GOOD}, which I won't.", ("prose",) * 3),
        (f"{GOOD} is what the evidence wants.", ("prose",) * 3),
    ],
)
def test_every_bad_reply_has_its_outcome(text, right):
    assert outcome(text) == right


@pytest.mark.parametrize(
    ("text", "stop", "right"),
    [
        (GOOD, "length", RIGHT),
        (GOOD[:120], "length", (S, "cut", "cut")),
        ("Let me see. Claim 417", "length", ("cut",) * 3),
        ("", "length", ("cut",) * 3),
        ("", "empty", ("empty",) * 3),
        ("I can't help with that.", "refusal", ("refusal",) * 3),
        (GOOD, "refusal", ("refusal",) * 3),
        (GOOD, "some day", RIGHT),
    ],
)
def test_why_a_reply_ended_matters(text, stop, right):
    assert outcome(text, stop) == right


def test_what_a_row_says_besides():
    text = wrapped(row("417", S, quote="the  tenant\n shall", reason="x" * 5000), row("530", "perhaps" * 20))
    found = judged(text)
    assert found["417"] == Choice(S, "", "x" * 999 + "…", "the tenant shall", 0.0)
    assert found["530"].reason == f"the reply gave '{('perhaps' * 20)[:39]}…' for a label"
    assert found["802"].reason == "the reply left this item out"
    assert judged(wrapped(row("417", S), row("417", C)))["417"].reason == (
        "the reply gave more than one label: 'supported' and 'contradicted'"
    )
    mended = judged(GOOD.replace('"r"', '"a\\ud800\\u0000b"'))["417"].reason
    assert mended == "a��b"


def test_a_reply_of_a_megabyte_is_read_in_a_moment():
    rows = [row(str(n), U, reason="word " * 20) for n in range(8000)]
    assert outcome(wrapped(row("417", S), *rows[1000:])) == (S, "missing", "missing")
    for text in ["{" * 10**6, '{"' * 10**6, '["' + "\\" * 10**6, "\n" * 10**6, "</think" * 10**5, '{"a":1}' * 10**5]:
        assert set(outcome(text)) <= set(FAILURES)
    assert outcome(f'{{"verdicts": [{{"id": "417", "reason": "{"a" * 10**6}')[0] == "cut"


def test_no_number_is_too_long():
    assert outcome(BARE % ("9" * 10_000))[0] == "label"


@given(st.text(alphabet=st.sampled_from("{}[]\":,\\\n'` 417supported"), max_size=80) | st.text(max_size=80))
def test_arbitrary_text_is_no_verdict(text):
    found = judged(text)
    assert set(found) == set(IDS)
    for id_, choice in found.items():
        assert (choice.label is None) == (choice.failure in FAILURES)
        if choice.label is not None:
            assert re.search(rf'"id"\s*:\s*"?\s*{id_}', text) and '"label"' in text


ANY_TEXT = st.text(max_size=30) | st.sampled_from([wrapped(row(i, S)) for i in IDS] + [json.dumps(row("417", S)), S])


@given(st.lists(st.tuples(st.sampled_from(IDS), st.sampled_from([C, U]), ANY_TEXT, ANY_TEXT), max_size=5), st.data())
def test_no_quote_and_no_damage_makes_a_pass(rows, data):
    """Replies without a single `supported` never support anything: whatever is quoted, wherever one character is lost
    or another slips in, and wherever they end.
    """
    text = wrapped(*[row(id_, label, quote=quote, reason=reason) for id_, label, quote, reason in rows])
    at = data.draw(st.integers(0, len(text)))
    slip = data.draw(st.sampled_from(["", *string.punctuation, "\n", "a", "0"]))
    for damaged in (text, text[:at], text[:at] + slip + text[at:], text[:at] + slip + text[at + 1 :]):
        assert S not in {choice.label for choice in judged(damaged).values()}


@given(st.permutations(range(6)), st.lists(st.sampled_from([S, C, U]), min_size=6, max_size=6), st.text(max_size=40))
def test_sound_replies_are_matched_by_id_in_any_order(order, labels, reason):
    ids = [str(100 + 7 * n) for n in range(6)]
    rows = [row(ids[n], labels[n], reason=reason) for n in order]
    for text in (wrapped(*rows), json.dumps({"verdicts": rows}, ensure_ascii=False, indent=1)):
        found = judged(text, ids=ids)
        assert [found[id_].label for id_ in ids] == labels
        assert {choice.reason for choice in found.values()} == {" ".join(reason.replace("\0", "�").split())}


def said(*claims):
    return json.dumps({"claims": [{"sentence": at, "claim": text} for at, text in claims]})


def taken(text, stop="stop", **options):
    return stated(Completion(text, stop), 0, 3, **options)


TAKEN = said((1, "Rent is due."), (1, "It is $5."), (3, "No notice is needed."))


@pytest.mark.parametrize(
    ("text", "right"),
    [
        (TAKEN, [(0, "Rent is due."), (0, "It is $5."), (2, "No notice is needed.")]),
        (f"Sure.\n```json\n{TAKEN}\n```", [(0, "Rent is due."), (0, "It is $5."), (2, "No notice is needed.")]),
        (said((2, " Two\n lines. "), ("3", "x"), (2, "Two lines.")), [(1, "Two lines."), (2, "x")]),
        ('[{"sentence": 1, "claim": "x"}]', [(0, "x")]),
        ('{"claims": []}', []),
        ("[]", []),
        # Half of an answer's claims would move every share of them: a reply counts as a whole, or not.
        ("{}", "the reply held no list of claims"),
        ('{"sentence": 1, "claim": "x"}', "the reply held no list of claims"),
        ('{"claims": null}', "the reply held no JSON of the kind that was asked for"),
        (f"{TAKEN}\n{TAKEN}", "the reply held 2 lists of claims"),
        ('{"claims": ["x", "y"]}', "the reply listed something that is no claim"),
        (said((1, "")), "the reply listed something that is no claim"),
        (said((1, None)), "the reply listed something that is no claim"),
        (said((1, 5)), "the reply listed something that is no claim"),
        (said((1, "x" * 2001)), "the reply listed something that is no claim"),
        ('{"claims": [{"sentence": 1}]}', "the reply listed something that is no claim"),
        (said((0, "x")), "the reply named a sentence that wasn't asked for"),
        (said((4, "x")), "the reply named a sentence that wasn't asked for"),
        (said((None, "x")), "the reply named a sentence that wasn't asked for"),
        (said((1.5, "x")), "the reply named a sentence that wasn't asked for"),
        (TAKEN[:-2], "the reply was cut off"),
        (TAKEN[:40], "the reply was cut off"),
        (TAKEN.replace("}, {", "} {"), "the reply stopped being JSON"),
        ("I can't.", "the reply held no JSON of the kind that was asked for"),
        ("", "the reply was empty"),
    ],
)
def test_claims_are_read_whole_or_not(text, right):
    found = taken(text)
    assert found == right and isinstance(found, Unusable if isinstance(right, str) else list)


def test_claims_of_no_known_sentence_may_be_kept_without_one():
    assert taken(said((0, "x"), (2, "y"), (None, "z"), (10**9, "w")), unplaced=True) == [
        (None, "x"),
        (1, "y"),
        (None, "z"),
        (None, "w"),
    ]
    assert taken("", "refusal", unplaced=True) == "the model declined to reply"
    assert taken("I think", "length") == taken("", "length") == "the reply was cut off"


@given(st.text(max_size=60) | st.integers(0, len(TAKEN) - 1).map(lambda n: TAKEN[:n]))
def test_no_part_of_a_reply_is_taken_for_all_of_its_claims(text):
    found = taken(text)
    assert isinstance(found, Unusable) or found == [] == read(text, "claims").rows


TEXT = "[5] The landlord’s notice—given under s. 47—was late.\nThe tenant “may” dispute it within 10 days."


@pytest.mark.parametrize(
    ("quote", "right"),
    [
        ("was late. The tenant", "was late. The tenant"),
        ("  the LANDLORD's notice-given ", "The landlord’s notice—given"),
        ('"The tenant "may" dispute it"', "The tenant “may” dispute it"),
        ("The landlord's notice … dispute it [...] 10 days", "The landlord’s notice … dispute it … 10 days"),
        ("dispute it ... was late", ""),
        ("within 14 days", ""),
        ("The tenant shall dispute", ""),
        ("the tenant (may|shall) .*", ""),
        ("", ""),
        ("…", ""),
        ('""', ""),
    ],
)
def test_a_quote_is_kept_where_the_text_holds_it(quote, right):
    assert quoted(quote, TEXT) == right
