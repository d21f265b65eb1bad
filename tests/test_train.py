"""The whole command: what it says, what it makes, what it refuses; and a task it must learn."""

import io
import json
import os
import random
import shlex
import signal
import subprocess
import sys

import pytest
from processes import ROOT, run
from train_command import TINY, command, native_lines, trained, write_corpus

from keras_attn.__main__ import main
from keras_attn.translation import Translator
from keras_attn.translation.corpus import sources
from keras_attn.translation.lexicon import Lexicon
from keras_attn.translation.runtime import threads
from keras_attn.translation.training.checkpoints import PREFIX, newest_first


@pytest.fixture
def train(monkeypatch):
    """`train(*arguments)`: the exit code of the command in this process."""
    # The threads of this process, which runs other tests too, are not its to set.
    monkeypatch.setattr(threads, "set_intra_op_threads", lambda: None)
    return lambda *arguments: main(["train", *map(str, arguments)])


@pytest.fixture(scope="module")
def corpus_file(tmp_path_factory):
    return write_corpus(tmp_path_factory.mktemp("corpus") / "文.tsv")


@pytest.mark.slow  # another process
def test_two_cores_run_an_operation_each():
    code = f"""
import runpy, sys
import tensorflow as tf
from keras_attn.translation.corpus import load
from keras_attn.translation.runtime import threads
def stop(*arguments, **options):
    settings = tf.config.threading
    print(settings.get_intra_op_parallelism_threads(), settings.get_inter_op_parallelism_threads())
    sys.exit()
threads.num_cores, load.load_corpus = lambda: 2, stop
sys.argv = ["train.py"]
runpy.run_path({str(ROOT / "train.py")!r}, run_name="__main__")
"""
    ended = run([sys.executable, "-c", code])
    assert ended.stdout.strip() == "1 2", ended.stderr


@pytest.fixture(scope="module")
def finished(corpus_file, tmp_path_factory):
    """A run that was interrupted and went on: what each of the two printed, and the folder."""
    out = tmp_path_factory.mktemp("out") / "ja-en"
    arguments = command("--data", corpus_file, "--out", out, *TINY)
    # More time than it will need to be interrupted in, however slow the machine.
    first = subprocess.Popen([*arguments, "--minutes", "9"], stderr=subprocess.PIPE, text=True)
    printed = ""
    for line in first.stderr:
        printed += line
        if line.startswith("epoch"):  # it has trained
            first.send_signal(signal.SIGINT)
            break
    printed += first.communicate(timeout=120)[1]
    (newest, *_) = newest_first(out / "training")
    steps = int(newest.name.removeprefix(PREFIX)) + 8
    # An encoding without Japanese letters, as Windows has for files and pipes.
    second = run([*arguments, "--steps", steps], PYTHONIOENCODING="cp1252")
    return first.returncode, printed, second, out


@pytest.fixture(scope="module")
def loaded(finished):
    return Translator.load(finished[-1])


def test_ctrl_c_saves_and_the_same_command_goes_on(finished):
    returncode, printed, second, _ = finished
    assert returncode == 130, printed
    assert "Interrupted. Run the same command again to resume." in printed
    assert second.returncode == 0, second.stderr
    (going_on,) = [line for line in second.stderr.splitlines() if "Resuming from step" in line]
    assert int(going_on.split()[-1].strip(".")) > 0
    assert not native_lines(printed + second.stderr)


def test_a_version_with_its_reports_is_all_that_is_left(finished):
    *_, second, out = finished
    version = out / "1"
    assert [path.name for path in out.iterdir()] == ["1"]
    report = json.loads((version / "report.json").read_text(encoding="utf-8"))
    assert "nrefs" in report["scores"]["bleu_signature"]
    assert f"BLEU {report['scores']['bleu']:.1f}" in second.stdout
    for sample in report["samples"]:
        assert sample["source"] in second.stdout
    words = Lexicon.load(version / "assets.extra" / "lexicon.npz")
    assert words.num_sources > 10 and len(words.keys) == len(words.log_probs) > 100
    page = (version / "report.md").read_text(encoding="utf-8")
    for picture in ("learning.png", "attention.png"):
        assert (version / picture).is_file() and picture in page
    assert "# Translator from ja to en" in (version / "README.md").read_text(encoding="utf-8")


@pytest.fixture(scope="module")
def last_lines(finished):
    *_, second, out = finished
    *_, heading, translate, serve, report = second.stdout.splitlines()
    assert heading == "Translate, serve, read the report:"
    return [shlex.split(line) for line in (translate, serve, report)]


def test_the_last_lines_are_commands(finished, last_lines, loaded, monkeypatch, capsys):
    monkeypatch.setattr(Translator, "load", lambda path: loaded)
    translate, serve, report = last_lines
    *_, out = finished
    assert report[1:] == [str(out / "1" / "report.md")]
    assert serve[-2:] == ["serve", str(out)]
    assert main(translate[translate.index("translate") :]) == 0
    assert capsys.readouterr().out.endswith("\n")


@pytest.mark.slow  # another process
def test_translate_keeps_lines_in_order_whatever_the_locale(last_lines, loaded):
    *start, text = last_lines[0]
    lines = [text, "", "猫は川で遊んでいます。", "<script>", "", "父"]
    result = subprocess.run(
        start,
        input="\n".join(lines).encode(),
        capture_output=True,
        env={**os.environ, "LC_ALL": "C", "PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0"},
    )
    assert result.returncode == 0 and not result.stderr, result.stderr
    translations = result.stdout.decode("utf-8").split("\n")
    assert len(translations) == len(lines) + 1 and translations[-1] == ""
    assert translations[:-1] == loaded(lines)
    assert translations[1] == translations[4] == ""


def test_train_py_reads_as_the_way_of_the_data():
    path = ROOT / "keras_attn" / "translation" / "train.py"
    lines = map(str.strip, path.read_text(encoding="utf-8").splitlines())
    stations = [line.split()[1] for line in lines if line.startswith("# ")]
    names = ["Text", "Tokens", "Batches", "Model", "Training", "SavedModel", "Score"]
    assert [name for name in stations if name in names] == names


def test_wrong_use_gets_one_clear_sentence(train, capsys, tmp_path, corpus_file):
    empty = tmp_path / "empty.tsv"
    empty.touch()
    held_out = ("--hold-out", corpus_file, "--hold-out", tmp_path / "held.tsv")
    for says, *arguments in (
        ("everyday", "--data", "tatoba"),
        ("`hold_out`", "--data", "tatoba", *held_out),
        ("missing.tsv", "--data", tmp_path / "missing.tsv"),
        ("empty", "--data", empty),
        ("num_hiddens=30, num_heads=4", "--num-hiddens", 30, "--num-heads", 4),
        ("folder that can be written", "--out", empty / "out"),
        ("--source en --target ja", "--data", swapped(corpus_file, tmp_path)),
    ):
        assert train("--out", tmp_path / "out", *arguments) == 2
        error = capsys.readouterr().err.strip()
        assert error.startswith("error: ") and "Traceback" not in error and says in error
        assert not (tmp_path / "out").exists()


def swapped(path, folder):
    other = folder / "en-ja.tsv"
    lines = path.read_text(encoding="utf-8").splitlines()
    sides = [line.split("\t") for line in lines]
    other.write_text("\n".join(f"{t}\t{s}" for s, t in sides), encoding="utf-8")
    return other


@pytest.mark.slow
@pytest.mark.parametrize("size", ["400k", "1200k", "4m"])  # for tokenizers, checkpoint, model
def test_full_disk_ends_in_one_sentence(size, corpus_file, tmp_path):
    mount = ["mount", "-t", "tmpfs", "-o", f"size={size}", "tmpfs", tmp_path]
    if subprocess.run(mount, capture_output=True).returncode:
        pytest.skip("a small disk needs the right to mount one")
    try:
        result = run(command("--data", corpus_file, "--out", tmp_path / "out", *TINY))
        left = [path.name for path in (tmp_path / "out").iterdir()]
    finally:
        subprocess.run(["umount", tmp_path], check=True)
    assert result.returncode == 2, result.stderr
    errors = [line for line in result.stderr.splitlines() if line.startswith("error: ")]
    assert len(errors) == 1 and "Traceback" not in result.stderr
    assert left == ["training"]


@pytest.mark.slow
def test_own_corpus_in_the_other_direction_without_figures(corpus_file, tmp_path):
    data = swapped(corpus_file, tmp_path)
    out = tmp_path / "en-ja"
    broken = tmp_path / "packages"
    broken.mkdir()
    (broken / "matplotlib_fontja.py").touch()  # a package without its fonts
    direction = ("--source", "en", "--target", "ja")
    path = f"{broken}{os.pathsep}{ROOT}"
    result = trained("--data", data, *direction, "--out", out, *TINY, PYTHONPATH=path)
    assert "is complete, but has no figures (FileNotFoundError: " in result.stderr
    assert f"Exported to {out / '1'}" in result.stdout
    assert [path.name for path in out.iterdir()] == ["1"]
    report = json.loads((out / "1" / "report.json").read_text(encoding="utf-8"))
    assert "tok:char" in report["scores"]["bleu_signature"]


@pytest.mark.slow
def test_other_languages_corpora_and_blocks_by_options_alone(tmp_path):
    words = {"der Hund": "le chien", "die Katze": "le chat", "der Vogel": "l’oiseau"}
    for name, verb, verbe in (("own", "schläft", "dort"), ("more", "singt", "chante")):
        lines = [
            f"{de} {verb} {'und wartet ' * n}hier.\t{fr} {verbe} {'et attend ' * n}ici."
            for de, fr in words.items()
            for n in range(12)
        ]
        (tmp_path / f"{name}.tsv").write_text("\n".join(lines), encoding="utf-8")
    (tmp_path / "held.tsv").write_text("Der Vogel singt hier!\tL’oiseau chante.\n", "utf-8")
    out = tmp_path / "de-fr"
    result = trained(
        *("--hold-out", tmp_path / "held.tsv"),
        *("--data", f"{tmp_path / 'own.tsv'} + {tmp_path / 'more.tsv'}=0.5"),
        *("--source", "de", "--target", "fr", "--out", out, "--tensorboard", tmp_path / "board"),
        *("--subword-alpha", 0.2, *TINY),
        *("--position", "rotary", "--norm", "rms", "--gated", "--num-kv-heads", 1),
        KERAS_BACKEND="jax",  # elsewhere; the translator is TensorFlow's
    )
    assert "read 72" in result.stdout
    assert "held out 1 pair for held.tsv" in result.stdout
    assert "\nHeld out, held.tsv, 1 sentence: BLEU " in result.stdout
    report = json.loads((out / "1" / "report.json").read_text(encoding="utf-8"))
    assert "tok:13a" in report["scores"]["bleu_signature"]
    assert report["details"]["configuration"]["hold_out"] == str(tmp_path / "held.tsv")
    assert "# Translator from de to fr" in (out / "1" / "README.md").read_text(encoding="utf-8")
    assert list((tmp_path / "board").iterdir())


@pytest.mark.slow
def test_a_large_set_trains_in_its_parts(train, tmp_path, monkeypatch, capsys, translation_set):
    monkeypatch.setattr(sources, "PART_PAIRS", 60)
    out = tmp_path / "out"
    name = translation_set([(f"{i}番の箱を開ける。", f"I open box {i}.") for i in range(240)])
    arguments = ["--data", f"tfds:{name}", "--out", out, "--steps", 40, *TINY]
    arguments += ["--position", "t5", "--no-norm-first", "--tie-embeddings", "--use-bias"]
    assert train(*arguments) == 0
    printed = capsys.readouterr()
    assert "read 60" in printed.out and "parts 4" in printed.out
    epochs = float(printed.out.split("Trained ")[1].split()[0])
    assert epochs > 4
    assert printed.err.count("validation BLEU") >= 4


@pytest.mark.slow
def test_learns_to_reverse_digit_strings(tmp_path):
    digits = random.Random(5)
    strings = {tuple(digits.choices("0123456789", k=digits.randint(3, 7))) for _ in range(6000)}
    data = tmp_path / "digits.tsv"
    data.write_text("\n".join(f"{' '.join(s)}\t{' '.join(s[::-1])}" for s in sorted(strings)))
    out = tmp_path / "out"
    result = trained(
        *("--data", data, "--source", "digits", "--target", "reversed", "--out", out),
        *("--minutes", 0.8, "--vocab-size", 300, "--num-encoder-layers", 1),
        *("--num-decoder-layers", 1, "--num-hiddens", 64, "--ffn-num-hiddens", 128),
        *("--learning-rate", 3e-3, "--warmup-steps", 100, "--dropout", 0, "--batch-tokens", 1024),
    )
    fresh = [digits.choices("0123456789", k=digits.randint(3, 7)) for _ in range(1000)]
    fresh = [s for s in fresh if tuple(s) not in strings][:300]
    said = Translator.load(out)([" ".join(s) for s in fresh])
    exact = sum(t == " ".join(s[::-1]) for s, t in zip(fresh, said, strict=True)) / len(fresh)
    assert exact >= 0.95, result.stderr[-500:]


def test_commands_of_a_finished_model(finished, loaded, corpus_file, tmp_path, monkeypatch, capfd):
    *_, out = finished
    monkeypatch.setattr(Translator, "load", lambda path: loaded)

    def said(name, *arguments):
        assert main([name, str(out), *map(str, arguments)]) == 0
        return capfd.readouterr().out

    text = "犬は庭で歌っています。\tThe dog is singing at the garden.\n\n犬\t<script>\n猫\n"
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(text.encode())))
    scores = [float(line) for line in said("score").splitlines()]
    assert len(scores) == 4 and all(score < 0 for score in scores)

    options = ("--baseline", out / "1", "--out", tmp_path / "report")
    printed = said("evaluate", corpus_file, *options)
    assert "BLEU" in printed and "TER" in printed and "number accuracy n/a" in printed
    assert "BLEU +0.0 against version 1" in printed
    assert (tmp_path / "report" / "report.json").is_file()
    printed = said("inspect")
    assert f"data: {corpus_file}" in printed
    assert "num hiddens: 16" in printed and "corpus, train: " in printed and "BLEU: " in printed


@pytest.mark.slow
def test_a_reader_who_has_enough_is_no_error(exported):
    process = subprocess.Popen(
        [sys.executable, "-m", "keras_attn.translation", "inspect", str(exported)],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    )
    process.stdout.close()  # before it has anything to say
    said = process.stderr.read().decode("utf-8")
    assert process.wait() == 1
    ours = [line for line in said.splitlines() if line.startswith(("error:", "Trace", "Exception"))]
    assert not ours


@pytest.mark.slow
def test_training_goes_on_from_an_exported_model(finished, corpus_file, tmp_path):
    *_, out = finished
    options = ["--data", corpus_file, "--start-from", out, "--out", tmp_path / "tuned"]
    trained(*options, "--minutes", 0.1, "--batch-tokens", 512)
    for name in ("source.model", "target.model", "lexicon.npz"):
        tuned, earlier = (
            folder / "1" / "assets.extra" / name for folder in (tmp_path / "tuned", out)
        )
        assert tuned.read_bytes() == earlier.read_bytes()
    config = json.loads((tmp_path / "tuned/1/assets.extra/config.json").read_text("utf-8"))
    assert config["num_hiddens"] == 16 and config["start_from"] == str(out / "1")
