"""Declining is told from answering."""

import pytest

from canlegalrag.errors import InputError
from canlegalrag.judging.abstaining import abstains

DECLINES = r"""
I cannot answer this from the documents.
I cannot answer this question based on the provided passages.
I can't answer that.
I’m unable to answer this question with the information provided.
I am not able to determine whether the notice is valid.
Unfortunately, I cannot provide legal advice on this matter.
I'm sorry, but I can't help with that.
I'm sorry, but I cannot assist with this request.
Sorry, I don't know.
I don't know.
I do not have enough information to answer.
I don't have access to the decision.
The passages do not contain the answer.
The passages do not contain information about notice periods in Manitoba.
The provided documents do not address this question.
The documents do not contain any information on this point.
None of the passages addresses the question.
The retrieved passages are not relevant to the question.
Based on the provided context, there is not enough information to answer the question.
There is insufficient information in the passages to answer.
There is no information in the documents provided about dogs.
This question cannot be answered from the passages.
It is not possible to determine the answer from the documents.
Based on the documents, it is impossible to say whether the tenant would succeed.
The context provides no information about severance.
The passages discuss evictions in Ontario, but they do not address severance pay.
The passages deal with wills. They do not say whether a dog may inherit.
I cannot answer this question. Please consult a lawyer in your province.
I could not find any relevant passage. You may wish to contact a legal aid clinic for advice.
# Answer\n\nI cannot answer this from the passages.
**Short answer**\nThe passages do not say.
Unknown
N/A
Not stated in the passages.
Insufficient information.
No answer.
As an AI, I cannot give legal advice. You should consult a lawyer.
I must decline to answer. Could you give me more detail?
I couldn't find information about this in the passages.
This is not addressed in the provided documents.
Je ne peux pas répondre à cette question à partir des documents.
Je ne sais pas.
Je suis désolé, mais je ne peux pas répondre à cette question.
Désolé, je ne suis pas en mesure de répondre.
Les passages ne contiennent pas la réponse.
Les documents fournis ne permettent pas de répondre à la question.
Les extraits fournis ne mentionnent pas le délai. Veuillez consulter un avocat.
Malheureusement, il n'y a pas assez d'information pour répondre.
Aucun passage ne traite de cette question.
Il m'est impossible de répondre à cette question.
"""

ANSWERS = r"""
No.
Yes.
No. The passages do not contain any exception.
You have 21 days to apply. The passages do not say whether the time may be extended.
The landlord must prove good faith, but I cannot say whether he will succeed.
I cannot give legal advice, but the notice is void under s. 44.
The court cannot order costs against the Crown.
A court could not determine the question without evidence.
The tribunal cannot answer a question of constitutional law.
The landlord cannot end the tenancy.
You cannot answer the claim without filing a defence.
We cannot agree that the notice was valid.
I cannot find that the landlord acted in good faith.
The court said that it could not find fraud.
The judge did not have enough evidence to convict.
There is not enough evidence to convict him.
There is no limitation period for this claim.
There is no duty to consult.
The documents do not contain a signature, so the will is invalid.
The notice does not contain the effective date and is void.
The decision does not address costs.
The lease does not say who pays for heat.
The Act provides no appeal.
The Act does not provide a remedy.
The notice is invalid because the passages do not contain proof of service.
It is impossible to contract out of the Act.
It is not possible to evict a tenant without an order.
The information to obtain was insufficient.
The information contains no grounds for the belief.
The passages say that a landlord must give 60 days' notice. They do not say more.
The passages mention the 21-day limit under s. 23. They do not address extensions.
Unfortunately, you are out of time.
I'm sorry to hear that. You may claim ten months' rent.
You should consult a lawyer.
Please contact the tribunal within 21 days.
I don't know the date of your notice, but if it was served in May you are out of time.
Le tribunal ne peut pas répondre à cette question sans preuve.
Vous ne pouvez pas résilier le bail.
Le bail ne contient pas de clause pénale.
Il n'y a pas de délai de prescription.
Je ne peux pas vous conseiller, mais le bail est nul.
The accused does not know the contents of the package.
Insufficient notice was given.
Not guilty.
Unknown persons broke in.
Refusal to answer is not an admission.
The employer declined to answer.
I cannot say for certain, the landlord must prove it.
"""


@pytest.mark.parametrize("text", DECLINES.strip().split("\n"))
def test_declining(text: str) -> None:
    assert abstains(text.replace("\\n", "\n"))


@pytest.mark.parametrize("text", ANSWERS.strip().split("\n"))
def test_answering(text: str) -> None:
    assert not abstains(text.replace("\\n", "\n"))


@pytest.mark.parametrize("stop", ["stop", "length", "refusal", "empty", "anything"])
@pytest.mark.parametrize("text", ["", " \n\t", "\xa0", "---", "…", "​"])
def test_nothing_at_all_declines(text: str, stop: str) -> None:
    assert abstains(text, stop)


def test_the_stop_decides_before_the_text() -> None:
    assert abstains("The notice is void.", "refusal")
    assert abstains("The notice is void.", "empty")
    assert not abstains("The notice is void.", "length")


def test_questions_and_titles_alone_do_not_decline() -> None:
    assert not abstains("What province are you in?")
    assert not abstains("# Answer")


def test_an_answer_of_any_length_and_script_is_read_without_fault() -> None:
    assert not abstains("The notice is void. " * 50_000)
    assert not abstains("通知无效。 \ud800 🏛️")
    assert not abstains("I cannot " * 300)
    for phrase in ("in a ", "the ", "for on ", "i'm sorry that ", "based on the documents ", "le les ", "i cannot "):
        assert not abstains(phrase * (2900 // len(phrase)) + ", landlord wins")


def test_the_sample_never_declines() -> None:
    import canlegalrag

    answers = canlegalrag.load("sample").answers
    assert len(answers) == 64
    assert not [query for query, answer in answers.items() if abstains(answer.text)]


@pytest.mark.parametrize("given", [None, 3, b"x", ["x"]])
def test_only_text(given: object) -> None:
    with pytest.raises(InputError, match="is no text"):
        abstains(given)  # type: ignore[arg-type]
