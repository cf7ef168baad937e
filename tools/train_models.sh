#!/bin/sh
# Train both shipped models from the tables in DATA; run it again after a kill to resume.
#   DATA=tables WORK=work tools/train_models.sh
set -eu
DATA=${DATA:?the folder of the URL tables}
WORK=${WORK:?a folder for checkpoints and finished models}
PYTHON=${PYTHON:-.venv/bin/python}
mkdir -p "$WORK"

if [ ! -s "$WORK/phrases.tsv.gz" ]; then
    "$PYTHON" -m tools.phrases --out "$WORK/phrases.tsv.gz" --work "$WORK/packages"
fi
if [ ! -s "$WORK/synthetic.tsv.gz" ]; then
    "$PYTHON" -m pip install --quiet --target "$WORK/words" wordfreq anyascii
    PYTHONPATH="$WORK/words" "$PYTHON" -m tools.synthetic_urls --most 900 \
        --rows "$DATA/urls_strong.tsv.gz" "$DATA/urls_weak.tsv.gz" \
        --phrases "$WORK/phrases.tsv.gz" --out "$WORK/synthetic.part.gz"
    mv "$WORK/synthetic.part.gz" "$WORK/synthetic.tsv.gz"
fi
"$PYTHON" -m scrapy train url2lang --base compact --out "$WORK/url2lang" --resume --threads 2 --seed 1 \
    --data "$DATA/urls_strong.tsv.gz" --weak "$DATA/urls_weak.tsv.gz" \
    --extra "$WORK/synthetic.tsv.gz" --cap 6000 --epochs 24 --patience 24 --epoch-size 40960
"$PYTHON" -m scrapy train parallel --base compact --out "$WORK/parallel" --resume --threads 2 --seed 1 \
    --data "$DATA/pairs.tsv.gz" "$DATA/wmt16/train_candidates_labelled.tsv.gz" \
    --extra "$DATA/urls_strong.tsv.gz" "$DATA/urls_weak.tsv.gz" \
    --phrases "$WORK/phrases.tsv.gz" --epochs 10 --epoch-size 40960

for task in url2lang parallel; do
    mkdir -p "models/$task"
    for file in model.onnx tokenizer.json config.json README.md; do
        cp "$WORK/$task/$file" "models/$task/"
    done
done
