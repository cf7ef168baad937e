"""Fine-tuning a base as the paper does it: streams, its negatives and no others, its layers."""

import random
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

torch = pytest.importorskip("torch", reason="training needs torch: pip install '.[train,cpu]'")
transformers = pytest.importorskip("transformers", reason="training needs transformers")

from bilingual_crawler.errors import ConfigurationError  # noqa: E402
from bilingual_crawler.lab.labels import LabelledPair  # noqa: E402
from bilingual_crawler.lab.training.compact import train_tokenizer  # noqa: E402
from bilingual_crawler.lab.training.examples import (  # noqa: E402
    Examples,
    StreamedExamples,
    UrlStore,
    encode_pairs,
    encode_urls,
)
from bilingual_crawler.lab.training.fine_tuning import (  # noqa: E402
    PairStore,
    PretrainedModel,
    prepare_parallel,
    prepare_url2lang,
)
from bilingual_crawler.lab.training.recipe import TrainingOptions, carry_out  # noqa: E402
from bilingual_crawler.scoring.classifier import ParallelUrls, Url2Lang  # noqa: E402
from bilingual_crawler.scoring.encode import UrlEncoder  # noqa: E402
from bilingual_crawler.scoring.preprocess import prepare  # noqa: E402

WORDS = {
    "fin": ["uutiset", "tietoa", "yhteystiedot", "palvelut", "etusivu", "tapahtumat"],
    "spa": ["noticias", "empresa", "contacto", "servicios", "inicio", "eventos"],
    "eus": ["albisteak", "guri", "harremanetan", "zerbitzuak", "hasiera", "ekitaldiak"],
}
PAGES = ("page", "news", "about", "shop")


@pytest.fixture(autouse=True)
def _one_thread():
    torch.set_num_threads(1)


def urls_table(path):
    rng = random.Random(0)
    with path.open("w") as lines:
        for number in range(900):
            language = rng.choice(list(WORDS))
            words = "-".join(rng.choices(WORDS[language], k=3))
            lines.write(f"https://host{number % 90}.org/{words}/{number}\t{language}\n")
    return path


def pairs_table(path):
    with path.open("w") as lines:
        for site in range(60):
            for page in range(8):
                one = f"https://s{site}.org/en/{PAGES[page % 4]}-{page}"
                lines.write(f"{one}\t{one.replace('/en/', '/fi/')}\teng\tfin\n")
    return path


def a_base(folder, tokens=50, layers=2):
    """Save a model with random weights as a downloaded one lies in its folder."""
    torch.manual_seed(0)
    config = transformers.XLMRobertaConfig(
        vocab_size=tokens,
        hidden_size=32,
        num_hidden_layers=layers,
        num_attention_heads=2,
        intermediate_size=64,
        max_position_embeddings=514,
    )
    model = transformers.XLMRobertaForSequenceClassification(config)
    model.save_pretrained(folder)
    return model


@pytest.fixture(scope="module")
def base_folder(tmp_path_factory):
    folder = tmp_path_factory.mktemp("base")
    tables = (urls_table(folder / "urls.tsv"), pairs_table(folder / "pairs.tsv"))
    lines = [line for table in tables for line in table.read_text().splitlines()]
    texts = [prepare(url) for line in lines for url in line.split("\t")[:2]]
    words = train_tokenizer(texts, 400, digits=True)
    words.save(str(folder / "tokenizer.json"))
    a_base(folder, words.get_vocab_size())
    return folder


@pytest.fixture
def options(base_folder, tmp_path):
    return TrainingOptions(data=(), out=tmp_path, base=str(base_folder), length=32, threads=1)


def urls_of(examples):
    """All rows of examples as texts."""
    rows = np.arange(len(examples)) if examples.places is None else examples.places
    return list(zip(*(column.take(rows) for column in examples.columns), strict=True))


def test_a_base_from_a_folder_is_fine_tuned_to_tell_languages(base_folder, options):
    options = replace(options, data=(base_folder / "urls.tsv",), epochs=6, rate=3e-3)
    figures = carry_out(prepare_url2lang(options), options, lambda *_: None)
    assert figures["dev_macro_f1"] > 0.9
    assert figures["agreement_int8"] >= 0.97
    found = Url2Lang(options.out).languages(["https://new.example/noticias-empresa-inicio/"])
    assert found[0][0][0] == "spa"


def test_a_base_from_a_folder_is_fine_tuned_for_pairs(base_folder, options):
    options = replace(options, data=(base_folder / "pairs.tsv",), epochs=1, length=64)
    figures = carry_out(prepare_parallel(options), options, lambda *_: None)
    assert figures["agreement_fp32"] >= 0.99
    one, two = "https://new.example/en/shop-7", "https://new.example/fi/shop-7"
    (asked,) = ParallelUrls(options.out).probabilities([(one, two)])
    assert 0 < asked < 1


def test_streamed_batches_are_those_of_encoded_rows(base_folder):
    encoder = UrlEncoder(base_folder / "tokenizer.json", 24)
    firsts = [f"https://a.org/{'news-' * (n % 7)}{n}" for n in range(300)]
    seconds = [f"https://a.org/fi/{'sivu/' * (n % 5)}\N{SNOWMAN}{n}" for n in range(300)]
    targets = np.arange(300) % 3
    stores = tuple(UrlStore() for _ in range(2))
    for store, urls in zip(stores, (firsts, seconds), strict=True):
        for url in urls:
            store.append(url)
    kinds = (
        (encode_urls(encoder, firsts), stores[:1]),
        (encode_pairs(encoder, list(zip(firsts, seconds, strict=True))), stores),
    )
    for arrays, columns in kinds:
        whole = Examples([arrays], targets)
        streamed = StreamedExamples([], targets, columns=columns, encoder=encoder)
        rows = whole.order(1, seed=3, size=0, fold=200)
        for rng in (None, 5):
            drawn = (
                each.batches(rows, 4, None if rng is None else np.random.default_rng(rng))
                for each in (whole, streamed)
            )
            for (one, wanted, numbers), (two, given, places) in zip(*drawn, strict=True):
                assert numbers.tolist() == places.tolist()
                assert torch.equal(wanted, given)
                assert torch.equal(one["input_ids"], two["input_ids"])
                assert torch.equal(one["attention_mask"], two["attention_mask"])
        every = [list(each[2]) for each in whole.batches(rows, 4, np.random.default_rng(5))]
        for examples in (whole, streamed):
            later = examples.batches(rows, 4, np.random.default_rng(5), skip=40)
            assert [list(each[2]) for each in later] == every[40:]
    assert streamed.some(10).targets.tolist() == whole.some(10).targets.tolist()


def test_every_language_of_the_data_is_a_class_and_no_site_is_thinned(options, tmp_path):
    table = tmp_path / "urls.tsv"
    lines = [f"https://big.org/{n}\tfin\ttrain" for n in range(400)]
    lines += ["https://one.org/1\teus\ttrain", "https://two.org/2\tspa\tdev"]
    lines += ["https://three.org/3\tspa\ttrain", "https://never.org/\tspa\tsites"]
    table.write_text("\n".join(["url\tlang\tsplit", *lines]))
    options = replace(options, data=(table,))
    prepared = prepare_url2lang(options)
    in_test = len(prepared.test)
    assert prepared.labels == ["eus", "fin", "spa", "unknown"]
    assert len(prepared.train) + in_test == 402
    assert prepared.train.weights is None
    assert urls_of(prepared.dev) == [("https://two.org/2",)]
    assert prepared.dev.targets.tolist() == [2]
    assert prepared.dev.measured == (2,)


def test_caps_apply_if_asked_for(options, tmp_path):
    table, dev = tmp_path / "urls.tsv", tmp_path / "dev.tsv"
    lines = [f"https://big{n % 2}.org/{n}\tfin" for n in range(60)]
    lines += [f"https://x{n}.org/\tspa" for n in range(5)]
    table.write_text("\n".join(lines))
    dev.write_text("https://dev.org/1\tspa\n")
    options = replace(options, data=(table,), dev=(dev,))
    assert np.bincount(prepare_url2lang(options).train.targets).tolist() == [60, 5]
    capped = prepare_url2lang(replace(options, cap=7)).train
    assert np.bincount(capped.targets).tolist() == [7, 5]
    finnish = {
        url for (url,), target in zip(urls_of(capped), capped.targets, strict=True) if not target
    }
    assert len(finnish) == 7
    assert all("big" in url for url in finnish)
    thinned = prepare_url2lang(replace(options, domain_cap=10)).train
    assert np.bincount(thinned.targets).tolist() == [20, 5]


def rows_by_kind(prepared):
    """Kinds of rows and their numbers, as the card says."""
    found = (each.split(" ", 1) for each in prepared.facts["rows"].split(", "))
    return {kind: int(count.replace(",", "")) for count, kind in found}


def test_the_negatives_are_those_of_the_paper_alone_unless_more_are_asked_for(
    base_folder, options, tmp_path
):
    extra = tmp_path / "extra.tsv"
    extra.write_text("".join(f"https://e{n % 5}.org/a/{n}\teng\n" for n in range(50)))
    options = replace(options, data=(base_folder / "pairs.tsv",), extra=(extra,))
    plain = rows_by_kind(prepare_parallel(options))
    assert set(plain) == {"pairs", "synthetic"}
    assert plain["pairs"] == 480
    more = rows_by_kind(prepare_parallel(replace(options, any_page=2, made_pairs=20)))
    assert set(more) == {"pairs", "synthetic", "any page", "made"}
    few = rows_by_kind(prepare_parallel(replace(options, domain_cap=3)))
    assert few["pairs"] == 180


def test_listed_negatives_and_links_of_pages_are_learned_from(options, tmp_path):
    """Page 1 links to its translation, so its other link is a negative; page 2 does not."""
    pairs, links, dev = (tmp_path / name for name in ("pairs.tsv", "links.tsv", "dev.tsv"))
    one, two = ((f"https://a.org/en/{n}x", f"https://a.org/fi/{n}y") for n in (1, 2))
    pairs.write_text(
        "".join(f"{first}\t{second}\teng\tfin\n" for first, second in (one, two))
        + f"{one[0]}\thttps://a.org/fi/3\t0\n"
    )
    links.write_text(
        f"{one[0]}\t{one[1]}\n{one[0]}\thttps://a.org/en/9\teng\n"
        f"{one[0]}\thttps://a.org/de/9\tdeu\n{two[0]}\thttps://a.org/en/9\teng\n"
    )
    dev.write_text("https://b.org/en/1\thttps://b.org/fi/1\teng\tfin\n")
    options = replace(options, data=(pairs,), dev=(dev,), links=(links,))
    prepared = prepare_parallel(options)
    assert rows_by_kind(prepared)["links"] == 1
    assert rows_by_kind(prepared)["listed"] == 1
    rows = dict(zip(urls_of(prepared.train), prepared.train.targets.tolist(), strict=True))
    assert rows[one[0], "https://a.org/en/9"] == 0
    assert rows[one[0], "https://a.org/fi/3"] == 0
    assert rows[one] == 1
    assert (two[0], "https://a.org/en/9") not in rows


def test_stored_pairs_come_back_site_by_site():
    store = PairStore()
    pairs = [
        LabelledPair(
            f"http://{name}.org/en/{n}", f"http://{name}.org/fr/{n}", n != 1, "eng", "fra", name
        )
        for n in range(3)
        for name in ("b", "a")
    ]
    for pair in pairs:
        store.add(pair)
    found = dict(store.sites())
    assert list(found) == ["b", "a"]
    assert found["a"] == [pair for pair in pairs if pair.domain == "a"]


def test_too_little_data_is_a_sentence(options, tmp_path):
    table = tmp_path / "few.tsv"
    table.write_text("http://a.fi/\tfin\n")
    with pytest.raises(ConfigurationError, match="too little"):
        prepare_url2lang(replace(options, data=(table,)))
    table.write_text("http://a.fi/en\thttp://a.fi/fi\teng\tfin\n")
    with pytest.raises(ConfigurationError, match="too few sites"):
        prepare_parallel(replace(options, data=(table,)))


@pytest.mark.parametrize("layers", range(4))
def test_the_top_layers_are_fresh_and_the_others_kept(tmp_path, layers):
    base = a_base(tmp_path, layers=3)
    torch.manual_seed(1)
    model = PretrainedModel(str(tmp_path), 3, fresh_layers=layers).transformer
    same = [
        all(
            torch.equal(one, two)
            for one, two in zip(old.parameters(), new.parameters(), strict=True)
        )
        for old, new in zip(base.roberta.encoder.layer, model.roberta.encoder.layer, strict=True)
    ]
    assert same == [True] * (3 - layers) + [False] * layers
    assert model.num_labels == 3


def test_the_layers_to_reset_come_from_the_options(base_folder, options):
    options = replace(options, data=(base_folder / "pairs.tsv",), reinit=0)
    kept = transformers.XLMRobertaForSequenceClassification.from_pretrained(base_folder)
    model: Any = prepare_parallel(options).model.transformer
    last = "roberta.encoder.layer.1.output.dense.weight"
    assert torch.equal(kept.state_dict()[last], model.state_dict()[last])


def test_more_layers_than_there_are_is_a_sentence(tmp_path):
    a_base(tmp_path, layers=2)
    with pytest.raises(ConfigurationError, match="has 2 layers"):
        PretrainedModel(str(tmp_path), 3, fresh_layers=3)


def test_a_base_that_is_not_there_is_a_sentence(tmp_path, monkeypatch):
    monkeypatch.setenv("HF_HUB_OFFLINE", "1")
    with pytest.raises(ConfigurationError, match="Cannot load the base model"):
        PretrainedModel(str(tmp_path / "none"), 2)
