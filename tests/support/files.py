"""Files that are not HTML, made from known texts."""

import zipfile
from io import BytesIO

from reportlab.lib.pagesizes import A4
from reportlab.lib.pdfencrypt import StandardEncryption
from reportlab.lib.utils import simpleSplit
from reportlab.pdfgen.canvas import Canvas

from bilingual_crawler.documents.files.reader import READER

FONT, SIZE, LEADING = "Helvetica", 11, 14
MARGIN = 60
WORD = "http://schemas.openxmlformats.org/wordprocessingml/2006/main"
ODF = "urn:oasis:names:tc:opendocument:xmlns"


class Pdf:
    """A PDF file that is laid out line by line."""

    def __init__(self, title="", password=""):
        self._stream = BytesIO()
        locked = StandardEncryption(password, ownerPassword="owner") if password else None
        self.canvas = Canvas(self._stream, pagesize=A4, encrypt=locked, invariant=1)
        self.canvas.setTitle(title)
        self.width, self.height = A4

    def lines(self, lines, x=MARGIN, y=760, size=SIZE, leading=LEADING):
        """Write lines from y downwards; return where the next one would be."""
        self.canvas.setFont(FONT, size)
        for line in lines:
            self.canvas.drawString(x, y, line)
            y -= leading
        return y

    def paragraphs(self, paragraphs, x=MARGIN, y=760, width=475):
        """Write paragraphs in a column; return where the next one would be."""
        for paragraph in paragraphs:
            y = self.lines(simpleSplit(paragraph, FONT, SIZE, width), x, y) - 0.7 * LEADING
        return y

    def next_page(self):
        self.canvas.showPage()

    def done(self):
        self.canvas.showPage()
        self.canvas.save()
        return self._stream.getvalue()


def pdf(*paragraphs, title="", password=""):
    made = Pdf(title, password)
    made.paragraphs(paragraphs)
    return made.done()


def zipped(**members):
    """A zip archive; the first member is not compressed."""
    stream = BytesIO()
    with zipfile.ZipFile(stream, "w", zipfile.ZIP_DEFLATED) as archive:
        for at, (name, content) in enumerate(members.items()):
            kind = zipfile.ZIP_STORED if at == 0 else zipfile.ZIP_DEFLATED
            archive.writestr(name, content, kind)
    return stream.getvalue()


def docx_of(body, **more):
    document = f'<w:document xmlns:w="{WORD}"><w:body>{body}</w:body></w:document>'
    styles = (
        f'<w:styles xmlns:w="{WORD}"><w:style w:styleId="Berschrift1">'
        '<w:name w:val="heading 1"/></w:style></w:styles>'
    )
    core = (
        '<c:coreProperties xmlns:c="c" xmlns:dc="http://purl.org/dc/elements/1.1/">'
        "<dc:title>A title</dc:title></c:coreProperties>"
    )
    members = {
        "[Content_Types].xml": "<Types/>",
        "word/document.xml": document,
        "word/styles.xml": styles,
        "docProps/core.xml": core,
    }
    return zipped(**members | more)


def docx(*paragraphs):
    return docx_of("".join(f"<w:p><w:r><w:t>{each}</w:t></w:r></w:p>" for each in paragraphs))


def odt_of(body, **more):
    content = (
        f'<office:document-content xmlns:office="{ODF}:office:1.0" xmlns:text="{ODF}:text:1.0">'
        f"<office:body><office:text>{body}</office:text></office:body></office:document-content>"
    )
    members = {"mimetype": "application/vnd.oasis.opendocument.text", "content.xml": content}
    return zipped(**members | more)


def odt(*paragraphs):
    return odt_of("".join(f"<text:p>{each}</text:p>" for each in paragraphs))


def epub(*chapters):
    """Chapters of XHTML, in the opposite order of their names."""
    names = [f"{9 - number}.xhtml" for number in range(len(chapters))]
    items = "".join(f'<item id="i{name}" href="text/{name}"/>' for name in sorted(names))
    spine = "".join(f'<itemref idref="i{name}"/>' for name in names)
    package = (
        '<package xmlns:dc="http://purl.org/dc/elements/1.1/"><metadata><dc:title>A book</dc:title>'
        f"</metadata><manifest>{items}</manifest><spine>{spine}</spine></package>"
    )
    container = '<container><rootfiles><rootfile full-path="OPS/p.opf"/></rootfiles></container>'
    texts = {
        f"OPS/text/{name}": f"<html><body>{chapter}</body></html>"
        for name, chapter in zip(names, chapters, strict=True)
    }
    return zipped(
        **{"mimetype": "application/epub+zip", "META-INF/container.xml": container},
        **{"OPS/p.opf": package},
        **texts,
    )


def rtf(*paragraphs):
    def escaped(text):
        return "".join(each if ord(each) < 128 else f"\\u{ord(each)}?" for each in text)

    body = "\\par ".join(map(escaped, paragraphs))
    return ("{\\rtf1\\ansi\\deff0 {\\fonttbl {\\f0 Times;}}\\f0 " + body + "}").encode()


def end_reader():
    """End the child process that reads files; call it after the tests of a file."""
    READER.close()
