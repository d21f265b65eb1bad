"""Speed of an imported Marian model: `python benchmarks/marian_speed.py --out FOLDER`.

transformers makes a model of 6+6 layers of width 512 with random weights (`marian_peer.py`, in an
environment of its own). The same folder is imported here, converted by CTranslate2's own converter,
and read by transformers with PyTorch. Each translates from strings to strings in processes of its
own, which take turns as in `decode.py`: greedy search, then a beam of 4, up to 40 pieces. A ratio
above 1 means that our SavedModel is faster.
"""

from __future__ import annotations

import argparse
import random
import re
import shutil
import sys
from pathlib import Path

from decode import OURS, load_tokenizers, take_turns, ways
from environments import python_of
from machine import describe_machine, num_cores
from marian_parity import SENTENCE, run, write
from peer import Peer

from keras_attn.translation.corpus import sources
from keras_attn.translation.importing import folder
from keras_attn.translation.importing.marian import import_marian
from keras_attn.translation.versions import newest_version

SHAPE = {
    "width": 512,
    "inner": 2048,
    "heads": 8,
    "encoder_layers": 6,
    "decoder_layers": 6,
    "pieces": 16_000,
}
REQUESTS = {1: 4, 8: 1, 32: 1}
BEAMS = (1, 4)
# In the environment "marian".
PEERS = ("ctranslate2 float32", "ctranslate2 int8", "transformers")
NUM_SENTENCES = 1_000
NUM_COMPARED = 200


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--out", type=Path, required=True, help="folder of models and environments")
    parser.add_argument("--turns", type=int, default=5, help="turns of each program")
    parser.add_argument("--threads", type=int, default=num_cores())
    arguments = parser.parse_args()
    out = arguments.out
    out.mkdir(parents=True, exist_ok=True)
    print(describe_machine(("tensorflow", "keras")), flush=True)
    pairs = list(sources.read("tatoeba", "ja", "en").pairs)
    random.Random(1).shuffle(pairs)
    # Of one sentence: texts of several are translated one by one.
    texts = [pair.source for pair in pairs if re.fullmatch(SENTENCE, pair.source)][:NUM_SENTENCES]
    python = python_of("marian", out)
    marian = make(out, python, [[pair[side] for pair in pairs] for side in (0, 1)])
    for beam_size in BEAMS:
        models = {name: marian for name in PEERS}
        models |= {name: import_for(marian, out / name, beam_size, name) for name in OURS}
        peers = {
            (name, way): start(name, way, models[name], beam_size, python, arguments.threads)
            for name in (*OURS, *PEERS)
            for way in ways(name)
        }
        print(f"\nBeam {beam_size}\n" if beam_size > 1 else "\nGreedy search\n", flush=True)
        compare(peers, texts[:NUM_COMPARED])
        tokenizers = load_tokenizers(newest_version(models[OURS[0]]))
        take_turns(peers, texts, tokenizers, arguments.turns, REQUESTS)
        for peer in peers.values():
            peer.end()
    return 0


def make(out: Path, python: Path, lines: list[list[str]]) -> Path:
    """Folder of a model of transformers, with the conversion of CTranslate2 inside."""
    marian = out / "wide"
    shutil.rmtree(marian, ignore_errors=True)
    write(out / "shape.json", SHAPE)
    write(out / "lines.json", lines)
    peer = Path(__file__).with_name("marian_peer.py")
    run(python, peer, "make", marian, out / "shape.json", out / "lines.json")
    converter = python.with_name("ct2-transformers-converter")
    run(converter, "--model", marian, "--output_dir", marian / "ctranslate2")
    return marian


def import_for(marian: Path, out: Path, beam_size: int, precision: str) -> Path:
    """Exported version for a beam size; `out` has no version before."""
    shutil.rmtree(out, ignore_errors=True)
    settings = folder.read_json(marian, folder.GENERATION_CONFIG)
    write(marian / folder.GENERATION_CONFIG, {**settings, "num_beams": beam_size})
    # Without a list of example sentences for the pair of languages.
    import_marian(marian, out, target="fr", serving_precision=precision)
    return out


def start(name: str, way: str, model: Path, beam_size: int, python: Path, num_threads: int) -> Peer:
    """Process of an engine that has loaded its model."""
    command = [name, way, str(num_threads)]
    if name in OURS:
        peer = Peer(f"{name}, {way}", ["decode_peers.py", *command], num_threads)
    else:
        command = ["marian_speed_peer.py", *command, str(beam_size)]
        peer = Peer(f"{name}, {way}", command, num_threads, python)
    peer.ask(load=str(model))
    return peer


def compare(peers: dict[tuple[str, str], Peer], texts: list[str]) -> None:
    """Print how many translations of each engine are those of transformers."""
    names = dict.fromkeys(name for name, _ in peers)
    said = {name: peers[name, ways(name)[0]].ask(texts=texts)["texts"] for name in names}
    for name, ours in said.items():
        same = sum(a == b for a, b in zip(ours, said["transformers"], strict=True))
        print(f"{name:<22}{same} of {len(texts)} translations as transformers", flush=True)


if __name__ == "__main__":
    sys.exit(main())
