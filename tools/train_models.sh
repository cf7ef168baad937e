#!/bin/sh
# Train the shipped models from the tables in DATA; run it again after a kill to resume.
#   DATA=tables WORK=work tools/train_models.sh                 both models
#   DATA=tables WORK=work tools/train_models.sh parallel        one of them
#   DATA=tables WORK=work READERS=models/url2lang tools/train_models.sh url2lang
# The last one keeps the readers of a finished url2lang model and fits only its judge, which is
# far faster.
set -eu
DATA=${DATA:?the folder of the URL tables}
WORK=${WORK:?a folder for checkpoints and finished models}
PYTHON=${PYTHON:-.venv/bin/python}
THREADS=${THREADS:-2}
READERS=${READERS:-}
[ $# -gt 0 ] || set -- url2lang parallel
mkdir -p "$WORK"

phrases() {
    if [ ! -s "$WORK/phrases.tsv.gz" ]; then
        "$PYTHON" -m tools.phrases --out "$WORK/phrases.tsv.gz" --work "$WORK/packages"
    fi
}
synthetic() {
    phrases
    if [ ! -s "$WORK/synthetic.tsv.gz" ]; then
        "$PYTHON" -m pip install --quiet --target "$WORK/words" wordfreq anyascii
        PYTHONPATH="$WORK/words" "$PYTHON" -m tools.synthetic_urls \
            --phrases "$WORK/phrases.tsv.gz" --out "$WORK/synthetic.part.gz"
        mv "$WORK/synthetic.part.gz" "$WORK/synthetic.tsv.gz"
    fi
}
train() {
    task=$1
    shift
    "$PYTHON" -m scrapy train "$task" --base compact --threads "$THREADS" --seed 1 "$@"
}
url2lang() {
    set -- --data "$DATA/urls_strong.tsv.gz" --weak "$DATA/urls_weak.tsv.gz" "$@"
    if [ -n "$READERS" ]; then
        train url2lang --readers "$READERS" "$@"
    else
        train url2lang --resume --extra "$WORK/synthetic.tsv.gz" --cap 20000 --epochs 7 \
            --epoch-size 65536 --batch 512 --lr 2.5e-3 --patience 30 "$@"
    fi
}
parallel() {
    train parallel --resume \
        --data "$DATA/pairs.tsv.gz" "$DATA/wmt16/train_candidates_labelled.tsv.gz" \
        --extra "$DATA/urls_strong.tsv.gz" "$DATA/urls_weak.tsv.gz" \
        --phrases "$WORK/phrases.tsv.gz" --epochs 5 --epoch-size 40960 "$@"
}

for task in "$@"; do
    folds="$WORK/$task-folds"
    case $task in
        url2lang)
            [ -n "$READERS" ] || synthetic
            [ -z "$READERS" ] || folds="$WORK/judge-folds"
            ;;
        parallel) phrases ;;
        *)
            echo "There is no model $task: name url2lang or parallel." >&2
            exit 2
            ;;
    esac
    "$task" --folds 5 --out "$folds" # the figures: sites that a model has not seen
    mkdir -p "$WORK/$task"
    if [ "$task" = parallel ]; then
        cp "$folds/lexicon.pt" "$WORK/$task/" # learned from the phrases alone
    fi
    "$task" --everything --out "$WORK/$task" --figures "$folds/cross-validation.json"
    mkdir -p "models/$task"
    for file in model.onnx tokenizer.json config.json; do
        cp "$WORK/$task/$file" "models/$task/"
    done
    command="${READERS:+READERS=models/$task }tools/train_models.sh $task"
    sed "s|^Made with .*|&\nTrained by \`$command\`.|" "$WORK/$task/README.md" >"models/$task/README.md"
done
