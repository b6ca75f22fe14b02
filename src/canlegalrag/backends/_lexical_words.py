"""What words count as for the lexical judge: function words, negation, modals, quantifiers, parties, units.

English and French together: a word of one that means something else in the other is rare enough in decisions.
"""

__all__ = [
    "ADVICE",
    "ALWAYS",
    "BREAKS",
    "COUNTERPARTS",
    "FAILS",
    "FRAMES",
    "MAY",
    "MONTHS",
    "MUST",
    "NEGATORS",
    "NUMBERS",
    "ONLY",
    "PARTIAL",
    "PRONOUNS",
    "REPORTS",
    "ROLES",
    "STOP",
    "UNITS",
    "WHOLE",
    "opposed",
]


def _words(text: str) -> frozenset[str]:
    return frozenset(text.split())


def opposed(pairs: str) -> dict[str, frozenset[str]]:
    """Words given two by two, each with those that it was given with.

    >>> sorted(opposed("allow dismiss  allow refuse")["allow"])
    ['dismiss', 'refuse']
    """
    words = pairs.split()
    both = [*zip(words[::2], words[1::2], strict=True), *zip(words[1::2], words[::2], strict=True)]
    return {word: frozenset(other for one, other in both if one == word) for word, _ in both}


STOP = _words(
    """
    a an the this that these those such same own of to in on at by for from with within into onto upon about against
    between among under over above below during before after since until through and or but nor so yet if then than
    as because while where when which who whom whose what how why there here also too very just again already still
    even both either each every all any some most many much more less few other another one no not never none neither
    cannot i me my we us our you your he him his she her hers it its they them their themselves himself herself itself
    be is are was were been being am do does did done doing have has had having will would shall should must may might
    can could ought get got let yes ok mr mrs ms mx dr v vs et al etc eg ie only always never sometimes often usually
    generally solely however therefore thus hence accordingly moreover furthermore
    le la les un une des du de d l au aux ce cet cette ces son sa ses leur leurs mon ma mes notre nos votre vos et ou
    mais ni car donc or si que qu qui quoi dont ou quand comme dans par pour sur sous avec sans chez vers entre apres
    avant pendant depuis jusque contre selon lors lorsque puisque il elle ils elles on nous vous je tu se s me te lui y
    en ne n pas plus jamais rien est sont etait etaient ete etre sera seront serait soit a ont avait avaient avoir aura
    aurait fait font doit doivent devait devra devrait peut peuvent pouvait pourra pourrait meme aussi tout tous toute
    toutes chaque certains certaines quelques plusieurs parfois souvent toujours seulement uniquement generalement c j
    m t oui non m mme me
    """
)
NEGATORS = _words(
    "not no never none neither nor nothing nobody cannot without jamais aucun aucune ni nul nulle sans non"
)
"""With `pas`, `plus` and `rien`, which the reading takes only after `ne`, and `n't`."""
FAILS = _words(
    "fail fails failed failing refuse refuses refused refusing decline declines declined unable omit omitted"
)
"""Negate what follows them and `to`."""
BREAKS = _words("but and however although though whereas because unless except et mais cependant sauf car")
"""End the reach of a negator or a modal."""

MUST = _words(
    "must shall required require requires obliged obliges obligated bound duty obligation mandatory "
    "need needs burden onus doit doivent devait devaient devra devront "
    "tenu tenue tenus obligation obligatoire exige exigee"
)
MAY = _words(
    "may might can could able possible permit permits entitled permitted "
    "permission discretion discretionary optional peut peuvent pouvait "
    "pouvaient pourra pourront pourrait autorise autorisee permis facultatif"
)
ADVICE = _words("should ought devrait devraient")

ALWAYS = _words("always automatically invariably toujours automatiquement")
WHOLE = ALWAYS | _words("all every each tous toutes chaque")
PARTIAL = _words(
    "some sometimes often usually generally many most several occasionally parfois certains certaines souvent "
    "generalement plusieurs quelques"
)
ONLY = _words("only solely exclusively alone seulement uniquement exclusivement seul seule")
REPORTS = _words(
    "argue argues argued arguing contend contends contended allege alleges alleged assert asserts asserted maintains "
    "insists insisted pretend pretendent soutient soutiennent soutenait allegue alleguent plaide plaident"
)
"""The sentence tells what somebody claims, not what is so."""
FRAMES = _words(
    """
    court tribunal appeal judge member panel decision judgment case hold holds held holding say says said saying find
    finds found explain explains explained note notes noted observe observes observed confirm confirms confirmed state
    states stated add adds added show shows shown illustrate illustrates ask asks asked rule rules ruled whether
    cour juge jugement arret conclu conclut precise retenu estime dit rappelle
    """
)
"""Who decides and that it does so: a claim tells it, the decision itself seldom does."""
PRONOUNS = _words(
    "he him his she her hers it its they them their who himself herself il elle ils elles lui leur leurs son sa"
)

ROLES: dict[str, str] = {
    word: role
    for role, words in {
        "landlord": "landlord landlords lessor lessors locateur locatrice locateurs bailleur",
        "tenant": "tenant tenants lessee lessees renter renters locataire locataires",
        "employer": "employer employers employeur employeurs",
        "employee": "employee employees worker workers employe employee employes salarie salariee salaries",
        "plaintiff": "plaintiff plaintiffs",
        "defendant": "defendant defendants defendeur defenderesse defendeurs",
        "applicant": "applicant applicants petitioner petitioners requerant requerante demandeur "
        "demanderesse demandeurs",
        "respondent": "respondent respondents intime intimee intimes",
        "appellant": "appellant appellants appelant appelante appelants",
        "crown": "crown prosecution prosecutor couronne",
        "accused": "accused offender accuse accusee",
        "buyer": "buyer buyers purchaser purchasers acheteur acheteuse acheteurs acquereur",
        "seller": "seller sellers vendor vendors vendeur vendeuse vendeurs",
        "insurer": "insurer insurers assureur assureurs",
        "insured": "insured insureds assure assuree",
        "creditor": "creditor creditors lender lenders creancier creanciere",
        "debtor": "debtor debtors borrower borrowers debiteur debitrice emprunteur",
        "mother": "mother mere",
        "father": "father pere",
        "husband": "husband mari",
        "wife": "wife epouse",
        "minister": "minister ministre",
        "taxpayer": "taxpayer taxpayers contribuable contribuables",
        "commission": "commission",
        "claimant": "claimant claimants prestataire",
        "complainant": "complainant complainants plaignant plaignante",
        "testator": "testator testatrix testateur testatrice",
        "executor": "executor executors executrix liquidateur liquidatrice",
        "beneficiary": "beneficiary beneficiaries beneficiaire beneficiaires legataire",
        "neighbour": "neighbour neighbours neighbor neighbors voisin voisine voisins",
        "police": "police officer officers constable policier policiers",
        "doctor": "doctor physician medecin",
        "patient": "patient patients patiente",
    }.items()
    for word in words.split()
}
"""Word, without accents -> party."""
_PAIRS = """
    landlord tenant  employer employee  plaintiff defendant  applicant respondent  appellant respondent  crown accused
    buyer seller  insurer insured  creditor debtor  mother father  husband wife  minister taxpayer  commission claimant
    complainant respondent  testator beneficiary  executor beneficiary  police accused  doctor patient
"""
COUNTERPARTS = opposed(_PAIRS)
"""Party -> those that stand across from it."""

MONTHS = {
    name: n
    for n, names in enumerate(
        (
            "january jan janvier",
            "february feb fevrier",
            "march mar mars",
            "april apr avril",
            "may mai",
            "june jun juin",
            "july jul juillet",
            "august aug aout",
            "september sept sep septembre",
            "october oct octobre",
            "november nov novembre",
            "december dec decembre",
        ),
        1,
    )
    for name in names.split()
}
UNITS = {
    word: unit
    for unit, words in {
        "day": "day days jour jours",
        "week": "week weeks semaine semaines",
        "month": "month months mois",
        "year": "year years an ans annee annees",
        "hour": "hour hours heure heures",
        "minute": "minute minutes",
        "$": "dollar dollars",
        "%": "percent percentage",
        "km": "km kilometre kilometres kilometer kilometers",
        "metre": "metre metres meter meters",
    }.items()
    for word in words.split()
}
_COUNTED = (
    "two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen",
    "deux trois quatre cinq six sept huit neuf dix onze douze treize quatorze quinze",
)
NUMBERS = {word: n for words in _COUNTED for n, word in enumerate(words.split(), 2)}
NUMBERS |= {"one": 1, "sixteen": 16, "seventeen": 17, "eighteen": 18, "nineteen": 19, "twenty": 20, "thirty": 30}
NUMBERS |= {"forty": 40, "fifty": 50, "sixty": 60, "seventy": 70, "eighty": 80, "ninety": 90, "hundred": 100}
NUMBERS |= {"vingt": 20, "trente": 30, "quarante": 40, "cinquante": 50, "soixante": 60, "cent": 100}
