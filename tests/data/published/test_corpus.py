import io
import json
import shutil
import tarfile
import zipfile

import pytest
from keras_attn_data.published import opus, shards, table
from keras_attn_data.published.corpus import PublishedCorpus

from keras_attn.translation.corpus import sources
from keras_attn.translation.corpus.load import load_corpus, load_test_set

PAIRS = [(f"箱{i}を開ける。", f"I open box {i}.") for i in range(300)]
JESC = {
    "split/train": "".join(f"- {en.lower()}\t{ja}\n" for ja, en in PAIRS),
    "split/test": "is it jim?\t－ジムなの （笑）\nno TAB\n",
}
KFTT = {
    f"./kftt-data-1.0/data/{kind}/kyoto-{part}.{language}": "".join(f"{text}\n" for text in texts)
    for kind in ("tok", "orig")
    for part, pairs in (("test", PAIRS[:2]), ("train", PAIRS))
    for language, texts in zip(("ja", "en"), zip(*pairs, strict=True), strict=True)
}
BOOKS = {"README": "cite us", "Books.de-en.de": "Ja.\nNein.\n", "Books.de-en.en": "Yes.\nNo.\n"}


def archive_of(texts, is_zip=False):
    whole = io.BytesIO()
    with zipfile.ZipFile(whole, "w") if is_zip else tarfile.open(fileobj=whole, mode="w:gz") as new:
        for name, text in texts.items():
            member = tarfile.TarInfo(name)
            member.size = len(text.encode())
            if is_zip:
                new.writestr(name, text)
            else:
                new.addfile(member, io.BytesIO(text.encode()))
    return "", whole.getvalue()


@pytest.fixture(autouse=True)
def publishers(site, monkeypatch):
    """Servers of the publishers, on loopback; makes the list of OPUS for two languages."""
    for name, texts in (("jesc", JESC), ("kftt", KFTT)):
        site.files[f"/{name}.tar.gz"] = archive_of(texts)
        row = table.PUBLISHED[name]._replace(address=f"{site.url}/{name}.tar.gz")
        monkeypatch.setitem(table.PUBLISHED, name, row)
    site.files["/books.zip"] = archive_of(BOOKS, is_zip=True)
    monkeypatch.setattr(opus, "API", f"{site.url}/opusapi/")

    def serve(first, second, **pairs):
        rows = [
            {"corpus": name, "source": first, "target": second, "alignment_pairs": count}
            | {"url": f"{site.url}/{kind}.zip"}
            for name, count in pairs.items()
            for kind in ("books.strict", "books")
        ]
        address = f"/opusapi/?source={first}&target={second}&preprocessing=moses&version=latest"
        site.files[address] = "application/json", json.dumps({"corpora": rows}).encode()

    return serve


def test_subtitles_are_sentences_and_the_test_part_is_not_trained_on(site, capsys):
    assert sorted(PublishedCorpus("jesc", "ja", "en").read(0, 1)) == sorted(PAIRS)
    assert PublishedCorpus("jesc:test", "en", "ja").read(0, 1) == [("Is it jim?", "ジムなの")]
    assert [path for path, _ in site.asked] == ["/jesc.tar.gz"]
    said = capsys.readouterr().err
    assert f"Fetching jesc (about 2,800,000 pairs) from {site.url}/jesc.tar.gz\n" in said
    assert "warning: jesc:test: 1 lines without TAB" in said


def test_a_large_corpus_is_read_in_parts_from_shards(site, monkeypatch, tmp_path):
    monkeypatch.setattr(shards, "SHARD_BYTES", 1000)
    monkeypatch.setattr(sources, "PART_PAIRS", 120)
    kftt = PublishedCorpus("kftt", "ja", "en")
    parts = [kftt.read(part, 3) for part in range(3)]
    assert [len(part) for part in parts] == [100, 100, 100]
    assert sorted(pair for part in parts for pair in part) == sorted(PAIRS)
    assert len({int(en[11:-1]) // 100 for _, en in parts[0]}) == 3  # a sample of the whole
    own = tmp_path / "own.tsv"
    own.write_text("".join(f"鍵{i}\tkey {i}\n" for i in range(30)), encoding="utf-8")
    corpus = load_corpus(f"kftt=0.5 + {own}", hold_out="kftt:test")
    assert [example.source for example in load_test_set("kftt:test")] == [ja for ja, _ in PAIRS[:2]]
    assert len(corpus.parts) == 3 and corpus.held_out[0].num_pairs
    assert set(corpus.parts[1].weights) == {0.5, 1.0}
    assert "NICT, licence CC BY-SA 3.0" in corpus.credit


def test_any_corpus_of_opus_in_any_languages_and_later_without_a_network(site, publishers):
    publishers("de", "en", Books=2)
    pairs = [("Yes.", "Ja."), ("No.", "Nein.")]
    assert PublishedCorpus("opus:books", "en", "de").read(0, 1) == pairs
    folder = site.cache / "published" / "opus-books-de-en"
    assert (folder / "README").read_text() == "cite us"
    site.files.clear()
    assert PublishedCorpus("opus:Books", "en", "de").read(0, 1) == pairs
    shutil.rmtree(folder)  # the archive is still there
    assert PublishedCorpus("opus:Books", "en", "de").read(0, 1) == pairs


def test_faults_are_one_clear_sentence(site, publishers):
    def refuse(name, match, languages=("ja", "en"), kind=ValueError):
        with pytest.raises(kind, match=match):
            load_corpus(name, *languages)

    publishers("en", "ja", NLLB="900", Books="", TED2020=1000)
    refuse("opus:Bux", r"no corpus of .* it has: TED2020 \(1,000 pairs\), NLLB \(900")
    publishers("en", "eo")
    refuse("opus:Books", "It has none in `en` and `eo`", ("eo", "en"))
    refuse("opus:../x", "given as opus:CORPUS")
    refuse("opus:Books", "404 Not .*copy the Moses .*`en` and `fr` to", ("fr", "en"), OSError)
    refuse("jesc", "from en to ja or from ja to en. .*source='de'", ("de", "en"))
    refuse("kftt:dec", "parts .* are train, dev, tune, test. Received: data='kftt:dec'")
    refuse("kftt:dev", "kftt.tar.gz must hold .*kyoto-dev.ja but does not")
    publishers("en", "ja", Books=1)
    odd = {"Books.en-ja.en": "1\n2\n", "Books.en-ja.ja": "1\n"}
    site.files["/books.zip"] = archive_of(odd, is_zip=True)
    refuse("opus:Books", "one of them ends before line 2")
    site.files["/jesc.tar.gz"] = "text/html", b"<html>Log in first."
    refuse("jesc", "cannot be read to its end .*Delete it")
    assert not [path for path in (site.cache / "published").iterdir() if path.is_dir()]
