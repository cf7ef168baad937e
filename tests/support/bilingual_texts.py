"""The same notice in two languages, paragraph by paragraph; written for the tests."""


def paragraphs(text):
    return [" ".join(each.split()) for each in text.split("\n\n")]


SPANISH = paragraphs("""
El ayuntamiento informa de que las obras de la plaza comenzarán el lunes 12 de mayo y durarán
hasta el final del verano.

Durante las obras no se podrá aparcar en la calle del mercado ni en las calles vecinas, salvo
con permiso.

La biblioteca seguirá abierta todos los días, pero se entrará por la puerta trasera del
edificio, junto al frontón.

Quien quiera hacer una reclamación puede presentarla por escrito en la oficina de atención
hasta el 30 de junio.

El mercado de los sábados se trasladará mientras tanto al patio de la escuela vieja, en la
orilla del río.

Pedimos disculpas a los vecinos por las molestias y les agradecemos la paciencia que tienen con
nosotros.
""")
BASQUE = paragraphs("""
Udalak jakinarazten du plazako obrak maiatzaren 12an, astelehenean, hasiko direla eta uda
amaitu arte iraungo dutela.

Obrek dirauten bitartean ezin izango da aparkatu merkatuko kalean ezta ondoko kaleetan ere,
baimenik gabe.

Liburutegia egunero egongo da zabalik, baina eraikinaren atzeko atetik sartu beharko da,
pilotalekuaren ondotik.

Erreklamazioren bat egin nahi duenak idatziz aurkeztu dezake herritarren arretarako bulegoan
ekainaren 30a arte.

Larunbatetako azoka eskola zaharreko patiora eramango da bitarte horretan, ibaiaren ertzean
dagoen tokira.

Barkamena eskatzen diegu bizilagunei eragozpenengatik, eta eskerrak ematen dizkiegu gurekin
duten pazientziagatik.
""")
