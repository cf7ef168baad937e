"""Checkpoints of the layout that the authors of SBFC publish, but small and with random weights."""

import hashlib
import json
import string
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import torch
from tokenizers import AddedToken, Tokenizer, models, normalizers, pre_tokenizers
from tokenizers.processors import TemplateProcessing
from transformers import XLMRobertaConfig, XLMRobertaForSequenceClassification

from bilingual_crawler.languages import all_languages

SPECIAL = ["<s>", "<pad>", "</s>", "<unk>"]
LANGUAGES = ["unk", *[each.code for each in all_languages() if each.cld2 and each.code != "eus"]]
LANGUAGES = [*LANGUAGES[:160], "eus", "sux"]
"""As in their config.json: unknown first, then 161 languages, one of which our table lacks."""
WORDS = [
    *("www", "es", "shop", "blog", "news", "example", "org", "eu", "en", "fr", "de", "top", "id"),
    *("contacto", "harremanetarako", "about", "nouvelles", "kontakt", "café"),
    *(".", "/", "/?", "-", "--", "_", "#", "="),
]
MARK = "\N{LOWER ONE EIGHTH BLOCK}"


def tokenizer():
    """Like the tokenizer.json of XLM-R: unigrams of words that begin with a mark."""
    pieces = [
        MARK,
        *(MARK + word for word in WORDS),
        *string.ascii_letters,
        *string.digits,
        *"./-_#=?",
    ]
    vocabulary = [(each, 0.0) for each in SPECIAL] + [(each, -3.0 - len(each)) for each in pieces]
    made = Tokenizer(models.Unigram(vocabulary, unk_id=SPECIAL.index("<unk>")))
    made.normalizer = normalizers.NFKC()
    made.pre_tokenizer = pre_tokenizers.Sequence(
        [pre_tokenizers.WhitespaceSplit(), pre_tokenizers.Metaspace()]
    )
    made.add_special_tokens([*SPECIAL, AddedToken("<mask>", lstrip=True)])
    made.post_processor = TemplateProcessing(
        single="<s> $A </s>",
        pair="<s> $A </s> </s> $B </s>",
        special_tokens=[(mark, made.token_to_id(mark)) for mark in ("<s>", "</s>")],
    )
    return made


def classifier(outputs, words, seed=0):
    """A small XLM-R whose answers differ from URL to URL."""
    torch.manual_seed(seed)
    config = XLMRobertaConfig(
        vocab_size=words.get_vocab_size(),
        hidden_size=32,
        num_hidden_layers=2,
        num_attention_heads=2,
        intermediate_size=64,
        max_position_embeddings=514,
        type_vocab_size=1,
        num_labels=outputs,
    )
    model = XLMRobertaForSequenceClassification(config).eval()
    texts = [f"{one} . example / {two}" for one in WORDS[:10] for two in WORDS[10:20]]
    rows = torch.tensor([each.ids for each in words.encode_batch(texts)])
    with torch.no_grad():
        for weights in model.parameters():
            if weights.ndim > 1:
                weights.normal_(0, 0.3)
        model.classifier.out_proj.bias -= model(rows).logits.mean(dim=0)
    return model


def checkpoint(folder, outputs, *, safe=True, seed=0, **entries):
    """Write a checkpoint as the hub has it; `entries` go into its config.json."""
    words = tokenizer()
    model = classifier(outputs, words, seed)
    model.save_pretrained(folder)
    state = model.state_dict()
    if not safe:
        (folder / "model.safetensors").unlink()
        # Older versions of transformers, with which they were saved, kept this too.
        state["roberta.embeddings.position_ids"] = torch.arange(514).expand((1, -1)).clone()
        torch.save(state, folder / "pytorch_model.bin")
    edit(folder, **entries)
    words.save(str(folder / "tokenizer.json"))
    (folder / "tokenizer_config.json").write_text('{"model_max_length": 512}')
    (folder / "README.md").write_text("---\nlicense: cc-by-sa-4.0\n---\n## Usage\n")
    return folder


def url2lang_checkpoint(folder, **options):
    return checkpoint(
        folder,
        len(LANGUAGES),
        id2lang={str(n): code for n, code in enumerate(LANGUAGES)},
        **options,
    )


def parallel_checkpoint(folder, outputs=1, **options):
    return checkpoint(folder, outputs, seed=1, **options)


def edit(folder, **entries):
    """Change config.json; None removes an entry."""
    path = folder / "config.json"
    config = {**json.loads(path.read_text()), **entries}
    path.write_text(json.dumps({name: each for name, each in config.items() if each is not None}))


class Hub:
    """A server that answers as the Hugging Face hub does for one model, `owner/name`."""

    NAME, COMMIT = "owner/name", "a" * 40

    def __init__(self, folder):
        self.asked: list[str] = []
        hub, files = self, {each.name: each for each in folder.iterdir()}

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def do_GET(self):
                hub.asked.append(self.path)
                status, headers, body = hub.answer_to(self.path.partition("?")[0], files)
                self.send_response_only(status)
                for name, value in {"Content-Length": str(len(body)), **headers}.items():
                    self.send_header(name, value)
                self.end_headers()
                if self.command == "GET":
                    self.wfile.write(body)

            def do_HEAD(self):
                self.do_GET()

            def log_message(self, *_args):
                pass

        self._server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.url = f"http://127.0.0.1:{self._server.server_port}"

    def answer_to(self, path, files):
        if path.startswith(f"/api/models/{self.NAME}/tree/"):
            tree = [
                {"type": "file", "path": name, "size": file.stat().st_size, "oid": "b" * 40}
                for name, file in files.items()
            ]
            return 200, {}, json.dumps(tree).encode()
        if path.startswith(f"/api/models/{self.NAME}"):
            siblings = [{"rfilename": name} for name in files]
            found = {"id": self.NAME, "sha": self.COMMIT, "siblings": siblings}
            return 200, {}, json.dumps(found).encode()
        file = files.get(path.rpartition("/")[2])
        if path.startswith(f"/{self.NAME}/resolve/") and file is not None:
            body = file.read_bytes()
            tag = hashlib.sha256(body).hexdigest()
            return 200, {"X-Repo-Commit": self.COMMIT, "ETag": f'"{tag}"'}, body
        return 404, {"X-Error-Code": "RepoNotFound"}, b"{}"

    def __enter__(self):
        threading.Thread(target=self._server.serve_forever, daemon=True).start()
        return self

    def __exit__(self, *_):
        self._server.shutdown()
        self._server.server_close()
