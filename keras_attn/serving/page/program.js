/** Requests for what the page shows: a curl command, and Python without packages. */

/** The texts `{curl, python}`, for the address of the server, the name of the model and a text. */
export function program(server, name, text) {
  const url = `${server}/v1/models/${encodeURIComponent(name)}:predict`;
  const body = JSON.stringify({ instances: [text] });
  return {
    curl: `curl -d ${quoted(body)} ${quoted(url)}`,
    python: [
      "import json, urllib.request",
      "",
      `body = json.dumps({"instances": [${JSON.stringify(text)}]}).encode()`,
      `with urllib.request.urlopen(${JSON.stringify(url)}, body) as answer:`,
      '    print(json.load(answer)["predictions"][0])',
    ].join("\n"),
  };
}

/** A word of the shell. */
function quoted(word) {
  return `'${word.replaceAll("'", "'\\''")}'`;
}
