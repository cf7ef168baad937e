"""A sample site: Harizlarre, a Basque valley town that does not exist.

Its pages are in Spanish, Basque and, for visitors, English. `demo.server` serves it on
loopback, `demo.content` has the expected results, and it has the traps that real sites have. (es)
stands for Spanish, (eu) for Basque, (en) for English.

==================================  ====================================================
what a crawler meets                where
==================================  ====================================================
language directories, equal slugs   /es/museo, /eu/museo, /en/museo; also ayuntamiento,
                                    biblioteca, historia
translated slugs, declared by both  /es/noticias/mercado-de-otono and
sides with <link rel=alternate>     /eu/albisteak/udazkeneko-azoka (and English); also
                                    under noticias, recetas, fiestas and albisteak,
                                    errezetak, jaiak
language as a query parameter       /agenda?id=1&lang=es|eu|en, /agenda?id=2&lang=es|eu
language as a suffix                /rutas/hayedo_es.html, _eu, _en; /rutas/cascada_es.html,
                                    _eu
default language without a token    / (es) and /eu/; /servicios/padron (es) and
                                    /eu/servicios/padron; /servicios/reciclaje
no translation at all               (es) /es/bando; (eu) /eu/bertsolariak; (en) /en/visitors
translated into English alone       /es/transporte, /en/transporte; /eu/abesbatza,
                                    /en/abesbatza
switcher that leads to the home     every page without a translation
page instead of a translation
hreflang that lies                  /es/alojamiento claims /eu/bertsolariak
hreflang of one side alone          /es/fiestas/dia-del-pastor claims its translation
                                    /eu/jaiak/artzain-eguna, which claims nothing
misleading token                    /es/kultura-etxea is Basque (and so is, with another
                                    text, /eu/kultura-etxea); /agenda?id=9&lang=es is
                                    Basque, a copy of lang=eu
calendar without end                /calendario, /calendario/2031/06, and so on both ways
a new session number in each link   /es/buzon?sid=...
relative links that never end       /es/laberinto/subir/bajar/ ...
print copy                          /es/imprimir/museo (with rel=canonical),
                                    /es/imprimir/bando (without)
tracking parameters                 /es/museo?utm_source=compartir,
                                    /es/bando?utm_source=boletin&utm_medium=correo
near-copy (one paragraph differs)   /es/bando-corregido of /es/bando
301                                 /es/ to /; /es/piscina-municipal to /es/piscina, which
                                    no other page links to
meta refresh                        /es/bienvenida to /es/historia
404                                 /es/pagina-perdida, linked from /es/ayuntamiento
500 the first time, then the page   /agenda?id=2&lang=eu
Latin-1, said in the header alone   /es/noticias/pasarela-nueva
Latin-1 that claims to be UTF-8     /rutas/cascada_es.html
PDF, image, offsite link            /documentos/plano.pdf, /img/molino-rueda.png,
                                    https://www.example.org/
mailto and fragment links           the foot of every page
disallowed by robots.txt            /privado/actas_es.html, /privado/actas_eu.html
tdm-reservation: 1 (header)         /es/poemas (its translation /eu/poemas is free)
meta robots noai                    /eu/cuentos (its translation /es/cuentos is free)
meta robots noindex, with links     /es/mapa, the only way to the routes and the maze
meta robots nofollow                /es/enlaces, the only way to /es/cantera
only linked from another language   /es/peregrinos, from /en/visitors
==================================  ====================================================

With `--pages N` there are also N generated article pairs, /es/articulos/0 and
/eu/articulos/0 and so on, listed on index pages such as /es/articulos/indice/0.
"""
