from keras_attn.translation.decoding.candidates import CHUNK
from keras_attn.translation.special_ids import BOS_ID, EOS_ID, PAD_ID, PLACEHOLDER_IDS, UNK_ID
from keras_attn.translation.text.placeholders import PLACEHOLDERS
from keras_attn.translation.tokenization import tokenizer

TEXTS = ["猫が窓のそばで寝ている。", "A cat is sleeping by the window."]


def test_every_tokenizer_has_the_special_pieces_at_their_ids():
    trained = tokenizer.train(TEXTS, 400, character_coverage=1.0)
    ids = (PAD_ID, UNK_ID, BOS_ID, EOS_ID, *PLACEHOLDER_IDS)
    assert [trained.pieces[i] for i in ids] == ["<pad>", "<unk>", "<s>", "</s>", *PLACEHOLDERS]
    assert trained.decode(trained.encode(TEXTS)) == TEXTS
    assert trained.encode([PLACEHOLDERS[2]])[0][-1] == PLACEHOLDER_IDS[2]


def test_the_search_keeps_its_rules_for_consecutive_ids_of_the_first_chunk():
    assert list(PLACEHOLDER_IDS) == list(range(PLACEHOLDER_IDS[0], PLACEHOLDER_IDS[-1] + 1))
    assert max(PLACEHOLDER_IDS) < CHUNK
