/** Events of a response of server-sent events, as they arrive: `{name, data}`, data from JSON. */
export async function* readEvents(response) {
  const reader = response.body.pipeThrough(new TextDecoderStream()).getReader();
  let text = "";
  for (;;) {
    const { done, value } = await reader.read();
    if (done) return;
    const events = (text + value).split("\n\n");
    text = events.pop(); // the beginning of the next event
    yield* events.map(read);
  }
}

function read(event) {
  const [, name, data] = /^event: (.*)\ndata: (.*)$/.exec(event);
  return { name, data: JSON.parse(data) };
}
