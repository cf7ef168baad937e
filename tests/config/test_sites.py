import re
import time
from itertools import pairwise
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bilingual_crawler.config.settings import Config, scrapy_defaults
from bilingual_crawler.config.site_keys import KEYS, SCRAPY_NAMES, SiteRules
from bilingual_crawler.config.sites import Sites
from bilingual_crawler.errors import ConfigurationError

GUIDE = Path(__file__).parents[2] / "docs" / "reference" / "site-rules.md"


def read(text):
    Path("sites.toml").write_text(text, encoding="utf-8")
    return Sites.from_file("sites.toml")


def problems(text):
    with pytest.raises(ConfigurationError) as caught:
        read(text)
    return list(caught.value.problems)


@pytest.fixture(autouse=True)
def in_a_folder_of_its_own(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)


def blocks_of_the_guide():
    return re.findall(
        r"^```(\w+)\n(.*?)^```$", GUIDE.read_text(encoding="utf-8"), re.MULTILINE | re.DOTALL
    )


def test_the_example_of_the_guide_is_read():
    kind, example = blocks_of_the_guide()[0]
    sites = read(example)
    assert kind == "toml"
    assert sites.names == (
        "*",
        "example.org",
        "archive.example.org",
        "gov.example",
        "192.0.2.7",
    )
    rules = sites.rules_for("archive.example.org")
    assert (rules.delay, rules.depth, rules.include) == (10, 10, ())
    assert not rules.admits("https://archive.example.org/print/1")


def test_the_errors_of_the_guide_are_those_that_are_told():
    examples = [
        (text, answer)
        for (kind, text), (next_kind, answer) in pairwise(blocks_of_the_guide())
        if (kind, next_kind) == ("toml", "text")
    ]
    assert len(examples) == 2
    for text, answer in examples:
        assert "\n".join(problems(text)) == answer.rstrip("\n")


def test_the_guide_lists_every_key_with_its_meaning():
    rows = re.findall(
        r"^\| `(\w+)` \| (?:`(\w+)`)? ?\| (.*) \|$", GUIDE.read_text(encoding="utf-8"), re.MULTILINE
    )
    assert rows == [(name, key.scrapy_name or "", key.meaning) for name, key in KEYS.items()]


def test_every_key_is_a_rule():
    assert set(KEYS) == set(SiteRules.__dataclass_fields__)


def test_every_scrapy_name_is_a_setting_that_the_project_knows():
    assert set(SCRAPY_NAMES) - {"USER_AGENT"} <= {default.name for default in scrapy_defaults}


def test_opt_outs_are_those_of_the_setting():
    everything = ", ".join(f'"{each}"' for each in Config().honour)
    rules = read(f'["*"]\nhonour = [{everything}]').rules_for("example.org")
    assert rules.honour == Config().honour


def test_no_file_is_no_rule():
    assert Sites().rules_for("example.org") == SiteRules()
    assert Sites().names == ()


def test_a_rule_that_is_not_given_is_none():
    rules = read('["example.org"]\ndelay = 1').rules_for("example.org")
    assert rules == SiteRules(delay=1.0)


@pytest.mark.parametrize(
    ("host", "delay"),
    [
        ("example.org", 1.0),
        ("www.example.org", 2.0),
        ("a.www.example.org", 2.0),
        ("other.example.org", 1.0),
        ("EXAMPLE.org.", 1.0),
        ("example.org:8080", 1.0),
        ("myexample.org", 9.0),
        ("org", 9.0),
        ("", 9.0),
        ("192.0.2.7", 3.0),
        ("192.0.2.7:80", 3.0),
        ("192。0。2。7", 3.0),
        ("1.192.0.2.7", 9.0),
        ("2001:db8::1", 4.0),
        ("[2001:DB8:0::1]:8080", 4.0),
        ("xn--bcher-kva.example", 5.0),
        ("www.Bücher.example", 5.0),
        ("a b", 9.0),
        ("x" * 300 + ".example.org", 9.0),
        ("é" * 300, 9.0),
        ("example..org", 9.0),
    ],
)
def test_a_host_has_the_rules_of_the_longest_name_that_fits(host, delay):
    sites = read(
        '["*"]\ndelay=9\n["www.example.org"]\ndelay=2\n["example.org"]\ndelay=1\n'
        '["192.0.2.7"]\ndelay=3\n["2001:db8::1"]\ndelay=4\n["bücher.example"]\ndelay=5'
    )
    assert sites.rules_for(host).delay == delay


def test_a_bracketed_address_is_a_name_too():
    assert read('["[::1]"]\ndelay=4').rules_for("::1").delay == 4


def test_a_whole_top_level_domain_may_be_named():
    assert read('["eus"]\ndelay=4').rules_for("www.ehu.eus").delay == 4


def test_rules_are_put_together_key_by_key():
    sites = read(
        '["*"]\ndelay=9\nretries=7\n["example.org"]\ndelay=1\npages=5\n'
        '["www.example.org"]\npages=6\ndepth=0'
    )
    expected = SiteRules(delay=1.0, retries=7, pages=6, depth=0)
    assert sites.rules_for("www.example.org") == expected


def test_the_same_rules_are_handed_out_again():
    sites = read('["example.org"]\ndelay=1')
    assert sites.rules_for("a.example.org") is sites.rules_for("b.example.org")


def test_a_hundred_thousand_questions_are_answered_in_no_time():
    sites = read('["*"]\ndelay=9\n["www.example.org"]\ndelay=2')
    hosts = [f"h{number}.www.example.org" for number in range(1000)] * 100
    start = time.process_time()
    for host in hosts:
        sites.rules_for(host)
    assert time.process_time() - start < 10


def test_scrapy_names_mean_the_same():
    sites = read(
        '["example.org"]\nDOWNLOAD_DELAY=1\nCONCURRENT_REQUESTS_PER_DOMAIN=2\n'
        "DOWNLOAD_DELAY_JITTER=0.5\nDOWNLOAD_TIMEOUT=3\nDOWNLOAD_MAXSIZE=4\nRETRY_TIMES=5\n"
        'USER_AGENT="me"\nDEPTH_LIMIT=6\nAUTOTHROTTLE_ENABLED=false'
    )
    assert sites.rules_for("example.org") == SiteRules(
        delay=1.0,
        concurrency=2,
        jitter=0.5,
        timeout=3.0,
        max_size=4,
        retries=5,
        user_agent="me",
        depth=6,
        autothrottle=False,
    )


def test_a_site_may_have_its_own_languages():
    rules = read('["example.org"]\nlanguages = "en-fr"').rules_for("example.org")
    assert str(rules.languages) == "eng-fra"


@pytest.mark.parametrize(
    ("url", "admitted"),
    [
        ("https://example.org/es/1", True),
        ("https://example.org/eu/1?a=b", True),
        ("https://example.org/en/1", False),
        ("https://example.org/es/print/1", False),
        ("https://example.org/es/?sid=1", False),
    ],
)
def test_include_must_match_and_exclude_must_not(url, admitted):
    sites = read("""["*"]\ninclude=['/es/', '/eu/']\nexclude=['/print/', '\\?sid=']""")
    assert sites.rules_for("example.org").admits(url) is admitted


def test_exclude_alone_admits_everything_else():
    rules = read("""["*"]\nexclude='/print/'""").rules_for("example.org")
    assert rules.admits("https://example.org/")
    assert not rules.admits("https://example.org/print/")


def test_rules_without_patterns_admit_everything():
    assert SiteRules().admits("https://example.org/")


def test_an_empty_list_takes_back_the_general_one():
    sites = read("""["*"]\nexclude=['/print/']\n["example.org"]\nexclude=[]""")
    assert sites.rules_for("example.org").admits("https://example.org/print/")
    assert not sites.rules_for("example.com").admits("https://example.com/print/")


@pytest.mark.parametrize(
    ("line", "complaint"),
    [
        ('delay = "fast"', "delay must be a number of seconds, 0 or more, not 'fast'."),
        ("delay = -1", "delay must be a number of seconds, 0 or more, not -1."),
        ("delay = true", "delay must be a number of seconds, 0 or more, not true."),
        ("delay = nan", "delay must be a number of seconds, 0 or more, not nan."),
        ("delay = {a=1}", "delay must be a number of seconds, 0 or more, not {'a': 1}."),
        ("delay = inf", "delay must be a number of seconds, from 0 to 1,000,000,000,000, not inf."),
        ("DOWNLOAD_DELAY = -1", "DOWNLOAD_DELAY must be a number of seconds, 0 or more, not -1."),
        ("concurrency = 0", "concurrency must be a whole number, 1 or more, not 0."),
        ("concurrency = 1.5", "concurrency must be a whole number, 1 or more, not 1.5."),
        ("jitter = 2", "jitter must be a number, from 0 to 1, not 2."),
        ("timeout = 0", "timeout must be a number of seconds, 0.01 or more, not 0."),
        ("autothrottle = 1", "autothrottle must be true or false, not 1."),
        ('render = "maybe"', "render must be one of auto, never, always, not 'maybe'."),
        ("render = ['never']", "render must be one of auto, never, always, not ['never']."),
        ("languages = 3", 'languages must be two languages or more, such as "spa-eus", not 3.'),
        (
            "honour = ['robots']",
            "honour must be one of tdm, noai, noindex, nofollow, not 'robots'.",
        ),
        ("honour = 'tdm,x'", "honour must be one of tdm, noai, noindex, nofollow, not 'x'."),
        ("honour = 1", 'honour must be a list of opt-outs, such as ["tdm", "noai"], not 1.'),
        ("user_agent = ' '", "user_agent must be a text in quotes, not ' '."),
        (
            'user_agent = "a\\r\\nCookie: b"',
            (
                "user_agent must be one line of at most 500 plain ASCII characters,"
                " not 'a\\r\\nCookie: b'."
            ),
        ),
        (
            "include = 5",
            "include must be a list of regular expressions, such as ['/es/', '/eu/'], not 5.",
        ),
        ("include = [5]", "include must be a list of regular expressions in quotes, not 5."),
        ("include = ['']", "include pattern '' is empty, which would match every URL."),
        (
            "include = ['(']",
            (
                "include pattern '(' is not a regular expression"
                " (missing ), unterminated subpattern at position 0)."
            ),
        ),
        (
            "include = ['[[a]']",
            (
                "include pattern '[[a]' is not a regular expression"
                " (Possible nested set at position 1)."
            ),
        ),
        (
            'include = ["\\bprint"]',
            (
                "include pattern '\\x08print' has a control character in it;"
                " write it in single quotes."
            ),
        ),
        ("dealy = 1", "there is no key dealy: did you mean delay?"),
        ("download_delay = 1", "there is no key download_delay: did you mean DOWNLOAD_DELAY?"),
        ("xyzzy = 1", f"there is no key xyzzy: the keys are {', '.join(KEYS)}."),
    ],
)
def test_a_bad_value_is_refused_with_its_line(line, complaint):
    text = f'["*"]\n\n["example.org"]\n{line}\n'
    assert problems(text) == [f"sites.toml, line 4: {complaint}"]


def test_an_unknown_language_is_refused_with_the_nearest_one():
    (problem,) = problems('["*"]\nlanguages = "spa-basqe"')
    assert problem.startswith("sites.toml, line 2: languages cannot be used: There is no language")
    assert "Basque (eus)" in problem


@pytest.mark.parametrize(
    ("text", "complaint"),
    [
        (
            '["https://example.org/es"]',
            (
                "'https://example.org/es' is not a host name:"
                ' write ["example.org"], which covers all below it.'
            ),
        ),
        (
            '["*.example.org"]',
            (
                "'*.example.org' is not a host name:"
                ' write ["example.org"], which covers all below it.'
            ),
        ),
        (
            '["example.org:8080"]',
            (
                "'example.org:8080' is not a host name:"
                ' write ["example.org"], which covers all below it.'
            ),
        ),
        (
            '["my site"]',
            '\'my site\' is not a host name, such as "example.org", or "*" for all sites.',
        ),
        (
            '["1.2.3"]',
            '\'1.2.3\' is not a host name, such as "example.org", or "*" for all sites.',
        ),
        ("[example.org]", 'a name with dots needs quotes: write ["example.org"].'),
        ("[www.example.org]", 'a name with dots needs quotes: write ["www.example.org"].'),
        ("example.org = {delay = 1}", 'a name with dots needs quotes: write ["example.org"].'),
        ("example.org.delay = 1", 'a name with dots needs quotes: write ["example.org"].'),
        ("delay = 1", 'delay is above the first table: write ["*"] over it, for all sites.'),
        (
            '"example.org" = 1',
            'example.org must be a table: write ["example.org"] and its keys below, not 1.',
        ),
        ('[["example.org"]]', 'a site is a table in single brackets: write ["example.org"].'),
    ],
)
def test_what_is_not_the_table_of_a_site_is_refused(text, complaint):
    assert problems(f"# a comment\n{text}") == [f"sites.toml, line 2: {complaint}"]


def test_the_keys_of_a_site_with_a_bad_name_are_checked_too():
    found = problems('["a b"]\ndelay=-1\n[x.y]\ndelay=-1\n["*"]\n["*".z]\ndelay=-1')
    assert [int(re.search(r"line (\d+)", each)[1]) for each in found] == [1, 2, 3, 4, 6, 7]


def test_one_site_twice_is_refused():
    assert problems('["example.org"]\ndelay=1\n["EXAMPLE.org"]\ndelay=2') == [
        (
            "sites.toml, line 3: 'EXAMPLE.org' is the same site as 'example.org' on line 1;"
            " merge the two."
        )
    ]


def test_one_key_by_both_names_is_refused():
    assert problems('["example.org"]\nDOWNLOAD_DELAY=1\ndelay=2') == [
        "sites.toml, line 3: delay and DOWNLOAD_DELAY (line 2) are the same; keep one."
    ]


def test_all_problems_are_told_in_the_order_of_the_file():
    found = problems('[x.y]\ndelay=1\n["*"]\ndelay=-1\ninclude=["("]\n[x.z]\n["c"]\nfoo=1')
    assert [int(re.search(r"line (\d+)", each)[1]) for each in found] == [1, 4, 5, 6, 8]


@pytest.mark.parametrize(
    ("text", "complaint"),
    [
        ("a", "line 1: this is not TOML: Expected '=' after a key in a key/value pair."),
        ('["*"]\ndelay : 2\n', "line 2: this is not TOML: Expected '=' after a key"),
        ('["*"]\ninclude = [\n"a",\n"b"\n\n', "line 2: this is not TOML: Unclosed array."),
        ('["*"]\ndelay = 1\ndelay = 2', "line 3: this is not TOML: a name is given twice."),
        ('["*"]\n\n["*"]', "line 3: this is not TOML: a name is given twice."),
        (
            '["*"]\nexclude = ["\\?sid="]',
            (
                "line 2: this is not TOML: Unescaped '\\' in a string;"
                " patterns are best written in single quotes, such as '\\?sid='."
            ),
        ),
        (f'["*"]\ndelay = {"9" * 5000}\npages = 1', "line 2: this is not TOML: Exceeds the limit"),
    ],
)
def test_a_syntax_error_is_told_with_its_line(text, complaint):
    (problem,) = problems(text)
    assert problem.startswith(f"sites.toml, {complaint}")


def test_brackets_without_end_are_no_crash():
    assert problems("a = " + "[" * 5000) == ["sites.toml: brackets are nested too deeply."]


PIECES = (
    '["*"]',
    '["example.org"]',
    "[example.org]",
    "[a.b.c]",
    '[["list"]]',
    "[list.below]",
    '["a b"]',
    "delay = 1",
    "delay = 'x'",
    "a.delay = 1",
    "a = {b = {c = 1}, d = [{}]}",
    "include = [",
    "'(',",
    "5]",
    "depth.x = 1",
    'text = """',
    '"""',
)


@given(st.lists(st.sampled_from(PIECES), max_size=12))
def test_any_file_is_read_or_refused_in_sentences(lines):
    found: tuple[str, ...] = ()
    try:
        read("\n".join(lines))
    except ConfigurationError as error:
        found = error.problems
    assert all(re.match(r"sites.toml, line \d+: .*[.?]$", each) for each in found)


def test_a_file_in_another_encoding_is_refused_with_its_line():
    Path("sites.toml").write_bytes('["*"]\nuser_agent = "é"'.encode("latin-1"))
    with pytest.raises(ConfigurationError, match=r"^sites.toml, line 2: save the file as UTF-8.$"):
        Sites.from_file("sites.toml")


def test_a_byte_order_mark_and_windows_line_ends_are_fine():
    Path("sites.toml").write_bytes(b'\xef\xbb\xbf["*"]\r\ndelay = 3\r\n')
    assert Sites.from_file("sites.toml").rules_for("x").delay == 3


def test_a_missing_file_is_named():
    with pytest.raises(ConfigurationError, match=r"sites=nope\.toml cannot be read: No such file"):
        Sites.from_file("nope.toml")
