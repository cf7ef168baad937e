"""RTF files, read by striprtf: plain paragraphs, without headings and lists."""

from striprtf.striprtf import rtf_to_text

from bilingual_crawler.documents.files.text import FileBlock, FileProblemError, FileText


def read_rtf(body: bytes) -> FileText:
    """Return the text of an RTF file, which is ASCII with codes for everything else."""
    if not body.lstrip().startswith(b"{\\rtf"):
        raise FileProblemError("broken_file")
    text = rtf_to_text(body.decode("latin-1"), errors="ignore")
    paragraphs = (" ".join(line.replace("|", " ").split()) for line in text.split("\n"))
    blocks = [FileBlock(paragraph) for paragraph in paragraphs if paragraph]
    if not blocks:
        raise FileProblemError("no_text")
    return FileText(blocks)
