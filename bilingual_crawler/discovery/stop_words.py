"""Function words that say nothing of what a link leads to, of languages common on the web.

Words of one or two letters are left out everywhere, so only longer ones are listed. A
language that is not here loses nothing but a little room: Naive Bayes finds by itself that
a word stands beside relevant and irrelevant links alike.
"""

_LISTS = {
    "eng": "and are but for from has have her his its not our the their this that was were will"
    " with you your all any can more here click",
    "spa": "con del las los más para pero por que son sus una uno este esta como todo sobre aquí",
    "fra": "aux avec ces dans des elle est les leur mais nos notre nous par pas plus pour que qui"
    " son sur une vos votre vous ici",
    "deu": "auch auf aus bei das dem den der des die ein eine einen einer für hier ihr ihre ist"
    " mit nach nicht oder sich sie sind und uns von vor wie wir zum zur",
    "por": "com das dos mais mas não nas nos para pela pelo por que são seu sua uma aqui",
    "ita": "che con dei del della delle gli nel nella non per più sono sul una qui",
    "cat": "amb als aquí dels del els les més per que són una",
    "eus": "eta bat ere dago dira egin hau hemen izan ez edo",
    "nld": "aan dat een het hier met niet ook van voor zijn",
    "pol": "dla jest nie oraz się tym tutaj",
    "swe": "att den det ett för här inte med och som till",
}

STOP_WORDS = frozenset(word for words in _LISTS.values() for word in words.split())
WEB_WORDS = frozenset({"www", "http", "https", "html", "htm", "php", "asp", "aspx", "jsp", "index"})
"""Pieces of addresses that say how a server works, not what a page is."""
