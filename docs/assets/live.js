// Live pieces: `<div data-live="softmax">` becomes a drawing with sliders that says its numbers.
(() => {
  const words = LIVE_WORDS[document.documentElement.lang] ?? LIVE_WORDS.en;
  const SVG = "http://www.w3.org/2000/svg";

  function fill(made, attributes, children) {
    for (const [name, value] of Object.entries(attributes)) made.setAttribute(name, value);
    made.append(...children);
    return made;
  }
  const element = (tag, attributes = {}, ...children) =>
    fill(document.createElement(tag), attributes, children);
  const drawn = (tag, attributes = {}, ...children) =>
    fill(document.createElementNS(SVG, tag), attributes, children);

  /** A labelled slider; `input.value` is a string, `input.valueAsNumber` the number. */
  function slider(label, min, max, step, value, onInput) {
    const shown = element("output");
    const input = element("input", { type: "range", min, max, step, value });
    const show = () => (shown.textContent = input.value);
    input.addEventListener("input", () => (show(), onInput()));
    show();
    return { input, row: element("label", { class: "live-row" }, element("span", {}, label), input, shown) };
  }

  /** Softmax of the scores whose mask is true; zeros where there is none. */
  function softmax(scores, mask) {
    const highest = Math.max(...scores.filter((_, i) => mask[i]));
    const powers = scores.map((score, i) => (mask[i] ? Math.exp(score - highest) : 0));
    const sum = powers.reduce((a, b) => a + b, 0) || 1;
    return powers.map((power) => power / sum);
  }

  const list = (numbers) => numbers.map((one) => one.toFixed(2)).join(", ");

  const PIECES = {
    softmax(box, say) {
      const bars = [0, 1, 2, 3, 4].map(() => element("span", { class: "live-bar" }));
      const draw = () => {
        const scores = sliders.map(({ input }) => input.valueAsNumber / heat.input.valueAsNumber);
        const weights = softmax(scores, [true, true, true, true, true]);
        weights.forEach((weight, i) => {
          bars[i].style.setProperty("--weight", weight);
          bars[i].textContent = weight.toFixed(2);
        });
        say(words.saysSoftmax(list(weights), 1 + weights.indexOf(Math.max(...weights))));
      };
      const sliders = [1, 2, 0, -1, 0.5].map((score, i) =>
        slider(`${words.score} ${i + 1}`, -4, 4, 0.5, score, draw));
      const heat = slider(words.temperature, 0.1, 4, 0.1, 1, draw);
      sliders.forEach(({ row }, i) => row.append(bars[i]));
      box.append(...sliders.map(({ row }) => row), heat.row);
      draw();
    },

    mask(box, say) {
      const range = [0, 1, 2, 3, 4];
      const scores = range.map((t) => range.map((s) => Math.sin(3 * t + 2 * s) + (t === s)));
      const mask = range.map(() => range.map(() => true));
      const draw = (at) => {
        const weights = range.map((t) => softmax(scores[t], mask[t]));
        range.forEach((t) => range.forEach((s) => {
          const [cell, weight] = [cells[t][s], weights[t][s].toFixed(2)];
          cell.ariaPressed = String(!mask[t][s]);
          cell.ariaLabel = `${words.query} ${t + 1}, ${words.key} ${s + 1}: ${mask[t][s] ? weight : words.hidden}`;
          cell.textContent = mask[t][s] ? weight : "";
          cell.style.setProperty("--weight", weights[t][s]);
        }));
        say(words.saysMask(at + 1, mask[at].filter(Boolean).length, list(weights[at])));
      };
      let paints = null; // what the pressed pointer paints
      const set = (t, s, value) => ((mask[t][s] = value), draw(t));
      const cells = range.map((t) => range.map((s) => {
        const cell = element("button", { type: "button", class: "live-cell", tabindex: t + s ? -1 : 0 });
        cell.addEventListener("pointerdown", (event) => {
          cell.releasePointerCapture(event.pointerId); // so that a finger paints, too
          set(t, s, (paints = !mask[t][s]));
        });
        cell.addEventListener("pointerenter", () => paints === null || set(t, s, paints));
        cell.addEventListener("click", (event) => event.detail || set(t, s, !mask[t][s])); // by keyboard
        cell.addEventListener("keydown", (event) => {
          const [down, right] =
            { ArrowUp: [-1, 0], ArrowDown: [1, 0], ArrowLeft: [0, -1], ArrowRight: [0, 1] }[event.key] ?? [];
          const to = cells[t + down]?.[s + right];
          if (down === undefined) return;
          event.preventDefault();
          if (!to) return;
          cell.tabIndex = -1;
          to.tabIndex = 0;
          to.focus();
        });
        return cell;
      }));
      addEventListener("pointerup", () => (paints = null));
      const masks = { none: () => true, causal: (t, s) => s <= t, padding: (t, s) => s < 3 };
      const buttons = Object.entries(masks).map(([name, rule]) => {
        const button = element("button", { type: "button" }, words[name]);
        button.addEventListener("click", () => {
          range.forEach((t) => range.forEach((s) => (mask[t][s] = rule(t, s))));
          draw(4);
        });
        return button;
      });
      const grid = element("div", { class: "live-grid", role: "group", "aria-label": words.hint }, ...cells.flat());
      box.append(element("p", {}, ...buttons), grid, element("p", { "aria-hidden": "true" }, words.hint));
      draw(4);
    },

    dot(box, say) {
      const draw = () => {
        const [q, k] = arrows.map(({ length, angle }) => {
          const [size, turn] = [length.input.valueAsNumber, (angle.input.valueAsNumber * Math.PI) / 180];
          return { size, turn, x: size * Math.cos(turn), y: size * Math.sin(turn) };
        });
        const product = q.x * k.x + q.y * k.y;
        const between = Math.round((Math.acos(Math.cos(q.turn - k.turn)) * 180) / Math.PI);
        [q, k].forEach(({ x, y, size }, i) => {
          const out = 1 + 0.4 / size; // next to the tip
          fill(lines[i], { x2: x, y2: -y }, []);
          fill(tips[i], { cx: x, cy: -y }, []);
          fill(names[i], { x: out * x, y: 0.12 - out * y }, []);
        });
        // From k down to its part along q, whose length times that of q is the product.
        const along = product / q.size ** 2;
        fill(shadow, { x1: k.x, y1: -k.y, x2: along * q.x, y2: -along * q.y }, []);
        say(words.saysDot(product.toFixed(2), between, q.size.toFixed(1), k.size.toFixed(1)));
      };
      const arrows = [["q", 2, 20], ["k", 1.5, 75]].map(([name, size, turn]) => ({
        length: slider(`${words.length} ${name}`, 0.5, 3, 0.1, size, draw),
        angle: slider(`${words.angle} ${name}`, -180, 180, 5, turn, draw),
      }));
      const lines = ["q", "k"].map((name) => drawn("line", { class: `live-${name}` }));
      const tips = ["q", "k"].map((name) => drawn("circle", { r: 0.16, class: `live-${name}` }));
      const names = ["q", "k"].map((name) => drawn("text", {}, name));
      const shadow = drawn("line", { class: "live-shadow" });
      const picture = drawn("svg", { viewBox: "-3.3 -3.3 6.6 6.6", class: "live-arrows", "aria-hidden": "true" },
        shadow, ...lines, ...tips, ...names);
      let held = null;
      tips.forEach((tip, i) => tip.addEventListener("pointerdown", (event) => {
        held = i;
        picture.setPointerCapture(event.pointerId);
      }));
      picture.addEventListener("pointermove", (event) => {
        if (held === null) return;
        const at = new DOMPoint(event.clientX, event.clientY).matrixTransform(picture.getScreenCTM().inverse());
        const { length, angle } = arrows[held];
        length.input.value = Math.hypot(at.x, at.y);
        angle.input.value = (Math.atan2(-at.y, at.x) * 180) / Math.PI;
        for (const { input } of [length, angle]) input.dispatchEvent(new Event("input"));
      });
      picture.addEventListener("pointerup", () => (held = null));
      box.append(picture, ...arrows.flatMap(({ length, angle }) => [length.row, angle.row]));
      draw();
    },

    positions(box, say) {
      const [WIDTH, COUNT] = [32, 60];
      const encoding = (position) => Array.from({ length: WIDTH }, (_, column) => {
        const phase = position / 10000 ** ((column - (column % 2)) / WIDTH);
        return column % 2 ? Math.cos(phase) : Math.sin(phase);
      });
      const table = Array.from({ length: COUNT }, (_, i) => encoding(i));
      const product = (i, j) => table[i].reduce((sum, one, c) => sum + one * table[j][c], 0);
      const draw = () => {
        const [i, j] = sliders.map(({ input }) => input.valueAsNumber);
        const points = table.map((_, at) => `${at},${-product(i, at)}`);
        fill(curve, { points: points.join(" ") }, []);
        [i, j].forEach((at, n) => {
          fill(marks[n], { cx: at, cy: -product(i, at) }, []);
          table[at].forEach((value, c) => cells[n][c].style.setProperty("--value", value.toFixed(2)));
        });
        say(words.saysPositions(i, j, Math.abs(i - j), product(i, j).toFixed(1), WIDTH / 2));
      };
      const sliders = [20, 25].map((at, n) =>
        slider(`${words.position} ${"ij"[n]}`, 0, COUNT - 1, 1, at, draw));
      const curve = drawn("polyline", { class: "live-curve" });
      const marks = ["q", "k"].map((name) => drawn("circle", { r: 0.8, class: `live-${name}` }));
      const axis = drawn("line", { x1: 0, x2: COUNT, y1: 0, y2: 0, class: "live-axis" });
      const cells = [0, 1].map(() => table[0].map(() => element("span")));
      const rows = cells.map((row) => element("div", { class: "live-encoding", "aria-hidden": "true" }, ...row));
      const picture = drawn("svg", { viewBox: "-1 -18 62 24", "aria-hidden": "true" }, axis, curve, ...marks);
      box.append(picture, sliders[0].row, rows[0], sliders[1].row, rows[1]);
      draw();
    },
  };

  for (const place of document.querySelectorAll("[data-live]")) {
    const name = place.dataset.live;
    const said = element("p", { role: "status", class: "live-said" });
    const box = element("div", {});
    fill(place, { role: "group", "aria-label": words[name] }, []);
    place.replaceChildren(box, said);
    PIECES[name](box, (sentence) => (said.textContent = sentence));
  }
})();
