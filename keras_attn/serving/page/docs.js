/** The page that shows the OpenAPI document of the server, and sends requests. */

import { byId, element } from "./element.js";
import { Problem } from "./problem.js";

const SHOWN = 20_000; // characters of an answer
const problem = new Problem(byId("problem"));
const api = await read().catch((error) => {
  problem.show("The document of the API cannot be read.", () => location.reload());
  throw error;
});

byId("about").textContent = `${api.info.title} ${api.info.version}. ${api.info.description}`;
for (const { name, description } of api.tags) {
  byId("operations").append(element("h2", {}, name), element("p", { class: "quiet" }, description));
  for (const [path, methods] of Object.entries(api.paths)) {
    for (const [method, operation] of Object.entries(methods)) {
      if (operation.tags.includes(name)) byId("operations").append(shown(path, method, operation));
    }
  }
}

async function read() {
  const response = await fetch("openapi.json");
  if (!response.ok) throw new Error(response.status);
  return response.json();
}

/** An object of the document, or what it refers to. */
function resolved(value) {
  if (!value.$ref) return value;
  return value.$ref.slice(2).split("/").reduce((object, key) => object[key], api);
}

/** An operation that opens to its parameters, body, answers and a button that sends a request. */
function shown(path, method, operation) {
  const line = element(
    "summary",
    {},
    element("span", { class: "method" }, method.toUpperCase()),
    element("code", {}, path),
    ` ${operation.summary}`,
  );
  const details = element("details", { class: "operation" }, line);
  details.addEventListener("toggle", () => details.append(form(path, method, operation)), { once: true });
  return details;
}

function form(path, method, { description = "", parameters = [], requestBody, responses }) {
  const fields = parameters.map(resolved).map(parameterField);
  const content = requestBody?.content["application/json"];
  const body = content && bodyField(content.examples);
  const answer = element("pre", { role: "status" });
  const made = element(
    "form",
    { autocomplete: "off" },
    element("p", {}, description),
    ...fields.map(({ label }) => label),
    ...(body?.elements ?? []),
    ...(content ? [schemaDetails("Schema of the body", content.schema)] : []),
    answers(responses),
    element("button", { type: "submit" }, "Send"),
    answer,
  );
  made.addEventListener("submit", async (event) => {
    event.preventDefault();
    const query = new URLSearchParams();
    let url = path.slice(1); // from this page, so that it works under any path of a proxy
    for (const { parameter, input } of fields) {
      if (parameter.in === "path") {
        url = url.replace(`{${parameter.name}}`, encodeURIComponent(input.value));
      } else if (input.value) query.set(parameter.name, input.value);
    }
    if (query.size) url += `?${query}`;
    answer.textContent = "…";
    answer.textContent = await answered(`./${url}`, method, body?.input.value);
  });
  return made;
}

function parameterField(parameter) {
  const input = element("input", { value: parameter.example });
  return { parameter, input, label: element("label", {}, `${parameter.name}: ${parameter.description}`, input) };
}

/** A field for the body, and a choice of examples. */
function bodyField(examples) {
  const input = element("textarea", { rows: 6, spellcheck: "false" });
  const options = Object.keys(examples).map((name) => element("option", {}, name));
  const choice = element("select", {}, ...options);
  const fill = () => (input.value = JSON.stringify(examples[choice.value].value, null, 2));
  choice.addEventListener("change", fill);
  fill();
  const elements = [element("label", {}, "Example", choice), element("label", {}, "Body", input)];
  return { input, elements };
}

/** A table of statuses, what they mean, and the schema of what is answered. */
function answers(responses) {
  const rows = Object.entries(responses).map(([status, response]) => {
    const { description, content = {} } = resolved(response);
    const parts = Object.entries(content).map(([media, { schema }]) =>
      schema ? schemaDetails(media, schema) : media,
    );
    return element(
      "tr",
      {},
      element("th", { scope: "row" }, status),
      element("td", {}, description),
      element("td", {}, ...parts),
    );
  });
  return element("table", { "aria-label": "Answers" }, element("tbody", {}, ...rows));
}

function schemaDetails(title, schema) {
  const text = JSON.stringify(resolved(schema), null, 2);
  return element("details", {}, element("summary", {}, title), element("pre", {}, text));
}

/** Status and text of an answer. */
async function answered(url, method, body) {
  try {
    const headers = body === undefined ? {} : { "Content-Type": "application/json" };
    const response = await fetch(url, { method: method.toUpperCase(), headers, body });
    const text = await response.text();
    const rest = text.length > SHOWN ? `\n… ${text.length - SHOWN} more characters` : "";
    return `${response.status} ${response.statusText}\n${text.slice(0, SHOWN)}${rest}`;
  } catch {
    return "The server cannot be reached.";
  }
}
