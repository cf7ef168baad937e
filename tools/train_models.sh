#!/bin/sh
# Train both shipped models from the tables in DATA; run it again after a kill to resume.
#   DATA=tables WORK=work tools/train_models.sh
set -eu
DATA=${DATA:?the folder of the URL tables}
WORK=${WORK:?a folder for checkpoints and finished models}
PYTHON=${PYTHON:-.venv/bin/python}
THREADS=${THREADS:-2}
mkdir -p "$WORK"

if [ ! -s "$WORK/phrases.tsv.gz" ]; then
    "$PYTHON" -m tools.phrases --out "$WORK/phrases.tsv.gz" --work "$WORK/packages"
fi
if [ ! -s "$WORK/synthetic.tsv.gz" ]; then
    "$PYTHON" -m pip install --quiet --target "$WORK/words" wordfreq anyascii
    PYTHONPATH="$WORK/words" "$PYTHON" -m tools.synthetic_urls \
        --phrases "$WORK/phrases.tsv.gz" --out "$WORK/synthetic.part.gz"
    mv "$WORK/synthetic.part.gz" "$WORK/synthetic.tsv.gz"
fi
url2lang() {
    "$PYTHON" -m scrapy train url2lang --base compact --resume --threads "$THREADS" --seed 1 \
        --data "$DATA/urls_strong.tsv.gz" --weak "$DATA/urls_weak.tsv.gz" \
        --extra "$WORK/synthetic.tsv.gz" --cap 20000 --epochs 7 --epoch-size 65536 --batch 512 \
        --lr 2.5e-3 --patience 30 "$@"
}
url2lang --folds 5 --out "$WORK/url2lang-folds" # the figures: sites that a model has not seen
url2lang --everything --out "$WORK/url2lang" \
    --figures "$WORK/url2lang-folds/cross-validation.json" # the model to ship: all sites
parallel() {
    "$PYTHON" -m scrapy train parallel --base compact --resume --threads "$THREADS" --seed 1 \
        --data "$DATA/pairs.tsv.gz" "$DATA/wmt16/train_candidates_labelled.tsv.gz" \
        --extra "$DATA/urls_strong.tsv.gz" "$DATA/urls_weak.tsv.gz" \
        --phrases "$WORK/phrases.tsv.gz" --epochs 5 --epoch-size 40960 "$@"
}
parallel --folds 5 --out "$WORK/parallel-folds"
mkdir -p "$WORK/parallel"
cp "$WORK/parallel-folds/lexicon.pt" "$WORK/parallel/" # learned from the phrases alone
parallel --everything --out "$WORK/parallel" \
    --figures "$WORK/parallel-folds/cross-validation.json"

for task in url2lang parallel; do
    mkdir -p "models/$task"
    for file in model.onnx tokenizer.json config.json README.md; do
        cp "$WORK/$task/$file" "models/$task/"
    done
done
