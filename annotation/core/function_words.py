"""Words of a query that say nothing of what is wanted, in the languages queries come in most.

Short on purpose: a word that may carry meaning ("can", "will", "not") is better marked than missed.
"""

ENGLISH = """a about an and any are as at be been being but by did do does doing for from get had
has have having how i if in into is it its me my of on or our so some that the their
them then there these they this those to was we were what when where which while who
whom whose why with you your"""
GERMAN = """als am an auch auf aus bei bin bis das dass dem den der des die du ein eine einem
einen einer eines er es für hat ich im in ist kann man mein mich mir mit nach oder
sich sie sind über um und uns von vor war warum was wer wie wir wird wo zu zum zur"""
FRENCH = """au aux avec ce ces cet cette comment dans de des du elle elles en est et il ils je la
le les leur leurs lui ma mes mon nous on ou où par pas pour pourquoi qu que quel
quelle quelles quels qui sa se ses son sont sur ta tes ton tu un une vos votre vous y"""
SPANISH = """al como cómo con cual cuál cuando de del donde dónde el ella en es esta este esto la
las le lo los me mi para por que qué quién se sin son su sus un una unas unos y yo"""
ITALIAN = """ai al alla alle che chi come con da dal dalla dei del della delle di dove e gli ha ho
i il in io la le lo ma mi nel nella o per quale quando questo si sono su sul sulla un
una uno è"""
PORTUGUESE = """ao aos as com como da das de do dos e em eu é na nas no nos o onde os ou para pela
pelo por qual quando que quem se seu sua um uma à às"""
DUTCH = """aan als bij dat de den die dit door een en er het hij hoe ik in is je kan maar met
mijn naar of om op te tot uit van voor waar waarom was wat we welke wie wij zijn"""
# ruff: noqa: RUF001 -- these letters are Cyrillic
RUSSIAN = """а без в во для до и из или к как какой кто ли мне мой на о об от по при с со так то у
что чтобы это я"""

FUNCTION_WORDS = {
    "de": frozenset(GERMAN.split()),
    "en": frozenset(ENGLISH.split()),
    "es": frozenset(SPANISH.split()),
    "fr": frozenset(FRENCH.split()),
    "it": frozenset(ITALIAN.split()),
    "nl": frozenset(DUTCH.split()),
    "pt": frozenset(PORTUGUESE.split()),
    "ru": frozenset(RUSSIAN.split()),
}
