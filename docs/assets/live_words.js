// Words of the live pieces by language. Functions make the sentences that are announced.
const LIVE_WORDS = {
  en: {
    softmax: "Scores and temperature", mask: "Mask", dot: "Two arrows", positions: "Two positions",
    score: "score", temperature: "temperature", length: "length of", angle: "angle of",
    position: "position", none: "no mask", causal: "causal", padding: "3 valid keys",
    query: "query", key: "key", hidden: "masked",
    saysSoftmax: (weights, best) => `Weights: ${weights}. Key ${best} has the largest.`,
    saysMask: (query, count, weights) =>
      count ? `Query ${query} attends to ${count} of 5 keys. Weights: ${weights}.`
            : `Query ${query} attends to no key: all its weights are 0.`,
    saysDot: (product, angle, q, k) =>
      `q · k = ${product}: lengths ${q} and ${k}, ${angle}° between them.`,
    saysPositions: (i, j, distance, product, of) =>
      `Positions ${i} and ${j}, distance ${distance}: the product is ${product}, of at most ${of}.`,
    hint: "Arrow keys go from cell to cell; Space or a click masks a cell.",
  },
  ja: {
    softmax: "スコアと温度", mask: "マスク", dot: "二つの矢印", positions: "二つの位置",
    score: "スコア", temperature: "温度", length: "長さ", angle: "角度",
    position: "位置", none: "マスクなし", causal: "因果マスク", padding: "有効なキーは 3 個",
    query: "クエリ", key: "キー", hidden: "マスク済み",
    saysSoftmax: (weights, best) => `重み: ${weights}。最大はキー ${best} です。`,
    saysMask: (query, count, weights) =>
      count ? `クエリ ${query} は 5 個中 ${count} 個のキーを参照します。重み: ${weights}。`
            : `クエリ ${query} が参照できるキーはなく、重みはすべて 0 です。`,
    saysDot: (product, angle, q, k) => `q · k = ${product}。長さは ${q} と ${k}、なす角は ${angle}° です。`,
    saysPositions: (i, j, distance, product, of) =>
      `位置 ${i} と ${j}、距離 ${distance}: 内積は ${product}（最大 ${of}）です。`,
    hint: "矢印キーでセルを移動し、スペースキーかクリックでマスクします。",
  },
  ko: {
    softmax: "점수와 온도", mask: "마스크", dot: "두 화살표", positions: "두 위치",
    score: "점수", temperature: "온도", length: "길이", angle: "각도",
    position: "위치", none: "마스크 없음", causal: "인과 마스크", padding: "유효한 키 3개",
    query: "쿼리", key: "키", hidden: "마스크됨",
    saysSoftmax: (weights, best) => `가중치: ${weights}. 키 ${best}의 가중치가 가장 큽니다.`,
    saysMask: (query, count, weights) =>
      count ? `쿼리 ${query}는 키 5개 중 ${count}개를 참조합니다. 가중치: ${weights}.`
            : `쿼리 ${query}가 참조할 수 있는 키가 없어 가중치가 모두 0입니다.`,
    saysDot: (product, angle, q, k) => `q · k = ${product}. 길이는 ${q}와 ${k}, 사이의 각은 ${angle}°입니다.`,
    saysPositions: (i, j, distance, product, of) =>
      `위치 ${i}와 ${j}, 거리 ${distance}: 내적은 ${product}이고 최댓값은 ${of}입니다.`,
    hint: "화살표 키로 칸을 옮기고, 스페이스 키나 클릭으로 마스크합니다.",
  },
};
