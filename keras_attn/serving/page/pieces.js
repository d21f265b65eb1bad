/** SentencePiece's pieces, as people read them. */

const MARK = "▁"; // where a word begins

/**
 * What is shown of a piece.
 *
 * `kind` is "text", "space", "byte", "start", "end" or "unknown". `text` is drawn. `name` is for screen
 * readers, in English where the piece is not text. `beginsWord` is whether a space comes before it.
 * `raw` is the piece as the server has it.
 */
export function readPiece(piece) {
  return { ...parts(piece), raw: piece };
}

function parts(piece) {
  const byte = /^<0x([0-9A-F]{2})>$/.exec(piece);
  if (byte) return special("byte", byte[1], `byte ${byte[1]}`);
  if (piece === "<s>") return special("start", "start", "the start");
  if (piece === "</s>") return special("end", "end", "the end");
  if (piece === "<unk>") return special("unknown", "?", "an unknown piece");

  const beginsWord = piece.startsWith(MARK);
  const text = piece.slice(beginsWord ? 1 : 0).replaceAll(MARK, " ");
  if (!text.trim()) return { kind: "space", text: "␣", name: "a space", beginsWord };
  return { kind: "text", text, name: text, beginsWord };
}

/** The pieces before the padding, which is empty strings. */
export function readPieces(pieces) {
  return pieces.filter((piece) => piece !== "").map(readPiece);
}

/** The language of a piece's name, for pieces of a text in the language `code`. */
export function languageOf(piece, code) {
  return piece.kind === "text" ? code : "en";
}

function special(kind, text, name) {
  return { kind, text, name, beginsWord: false };
}
