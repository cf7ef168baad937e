from datetime import datetime
from pathlib import Path

import pytest

from bilingual_crawler.config.plan import ARGUMENTS, CrawlPlan
from bilingual_crawler.config.seeds import available_pairs
from bilingual_crawler.errors import ConfigurationError

NOON = datetime.fromisoformat("2024-05-06T12:00:07")
ONE = "https://example.org/"


@pytest.fixture(autouse=True)
def in_a_folder_of_its_own(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)


def plan(**arguments):
    return CrawlPlan.from_arguments(**{"langs": "spa-eus", "now": NOON, **arguments})


def problems(**arguments):
    with pytest.raises(ConfigurationError) as caught:
        plan(**arguments)
    return list(caught.value.problems)


def problem(**arguments):
    (only,) = problems(**arguments)
    return only


def test_two_languages_are_enough_to_begin():
    made = plan()
    assert str(made.langs) == "spa-eus"
    assert "https://www.euskadi.eus/" in made.seeds
    assert made.seeds_from == "the project's list for spa-eus"
    assert made.output == Path("crawls/spa-eus-20240506-120007")
    assert made.sites.names == ()


def test_the_order_of_the_languages_is_kept_and_finds_the_same_list():
    made = plan(langs="eus-spa")
    assert str(made.langs) == "eus-spa"
    assert made.seeds == plan(langs="spa-eus").seeds


@pytest.mark.parametrize("langs", ["es-eu", "ES-EU", "Spanish-Basque", "spa,baq"])
def test_languages_may_be_written_in_any_known_way(langs):
    assert str(plan(langs=langs).langs) == "spa-eus"


@pytest.mark.parametrize("langs", [None, "", "  "])
def test_missing_languages_are_asked_for_with_an_example(langs):
    assert "scrapy crawl bilingual -a langs=spa-eus" in problem(langs=langs)


def test_an_unknown_language_is_answered_with_the_nearest():
    complaint = problem(langs="spa-basqe")
    assert complaint.startswith("-a langs=spa-basqe: ")
    assert "Basque (eus)" in complaint


def test_a_pair_without_a_list_is_told_how_to_give_seeds():
    complaint = problem(langs="kor-eng")
    assert "for kor-eng" in complaint
    assert "-a seeds=https://" in complaint
    assert "-a seeds_file=seeds.txt" in complaint
    assert ", ".join(available_pairs()) in complaint


def test_a_pair_without_a_list_is_crawled_from_the_users_seeds():
    assert plan(langs="kor-eng", seeds=ONE).seeds == (ONE,)


def test_seeds_of_the_user_replace_the_list():
    made = plan(seeds=f"{ONE},https://example.com/a")
    assert made.seeds == (ONE, "https://example.com/a")
    assert made.seeds_from == "-a seeds"


def test_a_program_may_give_seeds_as_a_list():
    assert plan(seeds=[ONE, "example.com"]).seeds == (ONE, "https://example.com/")


def test_seeds_without_a_seed_are_refused():
    assert problem(seeds=" , ").startswith("-a seeds is empty: ")


def test_every_bad_seed_is_named():
    found = problems(seeds="ftp://example.org,https://,example.com,javascript:alert(1)")
    assert [text.split("'")[1] for text in found] == [
        "ftp://example.org",
        "https://",
        "javascript:alert(1)",
    ]


def test_a_file_given_as_a_seed_is_explained():
    Path("seeds.txt").write_text(ONE)
    assert problem(seeds="seeds.txt") == (
        "-a seeds: 'seeds.txt' is a file: write -a seeds_file=seeds.txt."
    )


def test_a_very_long_word_is_a_bad_seed_and_no_crash():
    assert "is not a web address" in problem(seeds="a" * 5000)


def test_seeds_are_read_from_a_file():
    Path("mine.txt").write_bytes(
        b"\xef\xbb\xbf# my sites\r\nhttps://example.org\r\n\r\n  example.com/es#top  # why\r\n"
    )
    made = plan(seeds_file="mine.txt")
    assert made.seeds == (ONE, "https://example.com/es#top")
    assert made.seeds_from == "mine.txt"


def test_bad_lines_of_a_file_are_named_with_file_and_line():
    Path("mine.txt").write_text("# good\nhttps://example.org/\n\nmailto:x@example.org\na b\n")
    assert problems(seeds_file="mine.txt") == [
        (
            "mine.txt, line 4: 'mailto:x@example.org' begins with mailto:;"
            " only http:// and https:// are crawled."
        ),
        "mine.txt, line 5: 'a b' has a space in it; put commas between URLs, or write %20.",
    ]


def test_a_file_of_nonsense_is_not_told_line_by_line_to_the_end():
    Path("mine.txt").write_text("nonsense\n" * 1234)
    found = problems(seeds_file="mine.txt")
    assert len(found) == 21
    assert found[-1] == "And 1,214 more addresses like these."


def test_a_file_without_urls_is_refused():
    Path("mine.txt").write_text("# nothing yet\n\n")
    assert problem(seeds_file="mine.txt") == "mine.txt has no URL in it: write one per line."


def test_a_missing_file_is_named():
    assert problem(seeds_file="nope.txt") == (
        "The file of -a seeds_file=nope.txt cannot be read: No such file or directory."
    )


def test_a_file_in_another_encoding_is_refused_with_its_line():
    Path("mine.txt").write_bytes(b"https://example.org/\nhttps://example.org/\xe9\n")
    assert problem(seeds_file="mine.txt") == "mine.txt, line 2: save the file as UTF-8."


def test_a_tilde_is_the_home_folder(tmp_path, monkeypatch):
    monkeypatch.setenv("HOME", str(tmp_path))
    Path("mine.txt").write_text(ONE)
    made = plan(seeds_file="~/mine.txt", output="~/out")
    assert made.seeds == (ONE,)
    assert made.output == tmp_path / "out"


def test_seeds_and_file_are_joined_without_duplicates_in_their_order():
    Path("mine.txt").write_text("https://example.com/\nHTTPS://EXAMPLE.org\nhttps://c.example/\n")
    made = plan(seeds=f"{ONE},https://b.example/", seeds_file="mine.txt")
    assert made.seeds == (
        ONE,
        "https://b.example/",
        "https://example.com/",
        "https://c.example/",
    )
    assert made.seeds_from == "-a seeds and mine.txt"


def test_the_output_may_be_a_new_folder_in_a_new_folder():
    assert plan(output="new/folder").output == Path("new/folder")
    assert not Path("new").exists()


def test_two_crawls_of_one_second_get_two_folders():
    plan().output.mkdir(parents=True)
    assert plan().output == Path("crawls/spa-eus-20240506-120007-2")


def test_a_job_of_scrapyd_has_a_folder_of_its_name_and_goes_on_in_it():
    job = "6487ec79947edab326d6db28a2d86511e8247444"
    made = plan(_job=job)
    assert made.output == Path(f"crawls/spa-eus-{job}")
    made.output.mkdir(parents=True)
    Path(made.output, "crawl.sqlite").touch()
    assert plan(_job=job).output == made.output
    assert plan(_job=job, output="mine").output == Path("mine")


@pytest.mark.parametrize("job", ["../../elsewhere", "", ".hidden", "a b", "x" * 200])
def test_a_job_whose_name_is_no_file_name_has_a_folder_of_the_time(job):
    assert plan(_job=job).output == Path("crawls/spa-eus-20240506-120007")


def test_the_time_is_now_unless_told():
    before = datetime.now().astimezone().replace(microsecond=0)
    made = CrawlPlan.from_arguments(langs="spa-eus")
    stamp = datetime.strptime(made.output.name, "spa-eus-%Y%m%d-%H%M%S").astimezone()
    assert before <= stamp <= datetime.now().astimezone()


def test_an_empty_folder_may_be_the_output():
    Path("out").mkdir()
    assert plan(output="out").output == Path("out")


@pytest.mark.parametrize("name", ["crawl.sqlite", "crawl.json"])
def test_a_crawl_may_be_continued_in_its_folder(name):
    Path("out").mkdir()
    Path("out", name).touch()
    Path("out", "anything").touch()
    assert plan(output="out").output == Path("out")


def test_a_folder_in_which_another_worker_has_just_begun_may_be_the_output():
    Path("out", "worker-1").mkdir(parents=True)
    assert plan(output="out").output == Path("out")
    Path("out", "worker-1", "crawl.lock").touch()
    Path("out", "worker-2").mkdir()
    assert plan(output="out").output == Path("out")


def test_a_folder_with_something_else_is_refused():
    Path("thesis").mkdir()
    Path("thesis", "chapter1.txt").touch()
    assert problem(output="thesis") == (
        "The output folder thesis contains something other than a crawl;"
        " choose a new or an empty folder."
    )


def test_a_file_in_the_place_of_the_output_is_refused():
    Path("out").touch()
    assert problem(output="out") == (
        "The output folder out is a file; choose a folder with -a output=FOLDER."
    )


def test_a_file_above_the_output_is_refused():
    Path("out").touch()
    assert problem(output="out/a/b") == (
        "The output folder out/a/b cannot be created, because out is a file."
    )


@pytest.mark.skipif(not Path("/proc/self").exists(), reason="needs a folder nobody can write to")
def test_a_folder_that_cannot_be_written_is_refused():
    complaint = problem(output="/proc/crawl")
    assert complaint.startswith("The output folder /proc/crawl cannot be written (")
    assert complaint.endswith("choose another with -a output=FOLDER.")


def test_an_impossible_name_is_refused():
    assert "cannot be used (File name too long)" in problem(output="x" * 5000)


def test_an_empty_output_is_refused():
    assert problem(output=" ").startswith("-a output is empty: ")


def test_a_check_leaves_nothing_behind():
    plan(output="new")
    assert list(Path().iterdir()) == []


def test_rules_of_sites_are_read():
    Path("sites.toml").write_text('["example.org"]\ndelay = 3')
    assert plan(sites="sites.toml").sites.rules_for("example.org").delay == 3


@pytest.mark.parametrize(
    ("name", "nearest"), [("lang", "langs"), ("seed", "seeds"), ("seed_file", "seeds_file")]
)
def test_an_unknown_argument_is_answered_with_the_nearest(name, nearest):
    assert problem(**{name: "x"}) == f"There is no argument -a {name}: did you mean {nearest}?"


def test_the_time_is_not_an_argument_of_the_command_line():
    assert problem(now="2024").startswith("There is no argument -a now: ")


def test_an_argument_like_no_other_is_answered_with_all():
    assert problem(start_urls="x") == (
        f"There is no argument -a start_urls: there are {', '.join(ARGUMENTS)}."
    )


def test_a_setting_given_as_an_argument_is_explained():
    assert "write -s BILINGUAL_WARC=" in problem(BILINGUAL_WARC="1")


def test_arguments_with_an_underscore_in_front_are_ignored():
    assert plan(_job="26d1b1a6d6f111e0be5c001e648c57f8").seeds


def test_all_problems_are_told_at_once():
    Path("sites.toml").write_text('["*"]\ndelay = "fast"')
    Path("out").touch()
    Path("mine.txt").write_text("ftp://example.org/\n")
    found = problems(
        langs="spa-basqe",
        seeds="https://",
        seeds_file="mine.txt",
        output="out",
        sites="sites.toml",
        colour="blue",
    )
    beginnings = (
        "There is no argument -a colour",
        "-a langs=spa-basqe",
        "-a seeds:",
        "mine.txt, line 1:",
        "The output folder out",
        "sites.toml, line 2:",
    )
    assert len(found) == len(beginnings)
    assert all(text.startswith(each) for text, each in zip(found, beginnings, strict=True))
