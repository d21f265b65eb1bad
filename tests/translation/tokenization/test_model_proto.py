from keras_attn.translation.tokenization import tokenizer
from keras_attn.translation.tokenization.model_proto import ModelProto


def test_a_trained_model_is_read_with_all_its_pieces():
    trained = tokenizer.train(["the cat", "the dog"], 300, character_coverage=1.0)
    model = ModelProto.FromString(trained.proto)
    assert [piece.piece for piece in model.pieces] == trained.pieces
    assert model.SerializeToString() == trained.proto
