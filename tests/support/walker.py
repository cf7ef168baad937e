"""A plain link walker (urllib, lxml, CLD2): what a site really is, without the crawler."""

import email.message
import urllib.error
import urllib.request
from collections import deque
from dataclasses import dataclass
from functools import cached_property
from urllib.parse import urldefrag, urljoin
from urllib.robotparser import RobotFileParser

import lxml.html
import pycld2

from tests.support.processes import HANG

BLOCKS = "//h1 | //h2 | //p | //li | //td | //caption"


@dataclass
class Fetched:
    url: str
    status: int
    headers: email.message.Message
    body: bytes

    @cached_property
    def tree(self):
        return lxml.html.fromstring(self.body.decode("utf-8", "replace"), base_url=self.url)

    @cached_property
    def is_html(self):
        return self.headers.get_content_type() == "text/html"

    @cached_property
    def links(self):
        return [
            urljoin(self.url, href)
            for href in self.tree.xpath("//a[not(starts-with(@href, '#'))]/@href")
        ]

    @cached_property
    def robots(self):
        return " ".join(self.tree.xpath("//meta[@name='robots']/@content"))

    @cached_property
    def alternates(self):
        return {
            link.get("hreflang"): urljoin(self.url, link.get("href"))
            for link in self.tree.xpath("//link[@rel='alternate']")
        }

    @cached_property
    def blocks(self):
        return [" ".join(block.text_content().split()) for block in self.tree.xpath(BLOCKS)]

    @cached_property
    def text(self):
        return "\n".join(p.text_content() for p in self.tree.xpath("//main//p"))

    @cached_property
    def language(self):
        reliable, _, details = pycld2.detect(self.text)
        return details[0][1] if reliable else None


def fetch(url):
    try:
        with urllib.request.urlopen(url, timeout=HANG) as response:
            return Fetched(response.url, response.status, response.headers, response.read())
    except urllib.error.HTTPError as error:
        with error:
            return Fetched(url, error.code, error.headers, error.read())


def walk(base, depth=9):
    """Every page that links lead to, by final URL, obeying robots.txt and nofollow."""
    robots = RobotFileParser(urljoin(base, "robots.txt"))
    robots.read()
    fetched, seen, queue = {}, {base}, deque([(base, 0)])
    while queue:
        url, level = queue.popleft()
        page = fetch(url)
        if page.status == 500:
            page = fetch(url)
        fetched[page.url] = page
        if not page.is_html or "nofollow" in page.robots or level == depth:
            continue
        for link in page.links:
            target = urldefrag(link).url
            if target.startswith(base) and target not in seen and robots.can_fetch("*", target):
                seen.add(target)
                queue.append((target, level + 1))
    return fetched
