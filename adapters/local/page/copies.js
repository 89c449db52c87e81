// A call as text for elsewhere: a command of curl, one of `millrace`, and a test of the app. No value of a credential is in it.

// The app's folder, where this machine's own page knows it.
let appFolder;

// A word of a shell, in quotes where it needs them.
const word = (text) => (/^[\w@%+=:,./-]+$/.test(text) ? text : "'" + text.replaceAll("'", "'\\''") + "'");

// The header fields that a person filled in, each with a variable of the shell in place of its value.
const fieldsWithVariables = () =>
  credentials().map(([name]) => '"' + name.trim().replace(/[^\w-]/g, "") + ": $" + name.trim().toUpperCase().replace(/\W+/g, "_") + '"');

// The request of a call, as any client can send it.
function plainRequest({ kind, name, entry }, values) {
  if (kind === "prompt") return ["prompts/get", { name, arguments: values }];
  if (kind === "resource") return ["resources/read", { uri: addressOf({ name, entry }, values) }];
  return ["tools/call", { name, arguments: values }];
}

function curlOf(item, values) {
  const [method, params] = plainRequest(item, values);
  const headers = ["'content-type: application/json'", "'accept: application/json, text/event-stream'", ...fieldsWithVariables()];
  const body = JSON.stringify({ jsonrpc: "2.0", id: 1, method, params });
  return ["curl -s " + word(here), ...headers.map((one) => "  -H " + one), "  -d " + word(body)].join(" \\\n");
}

// `millrace call` calls tools.
function asCommand(item, values) {
  if (item.kind !== "tool") return undefined;
  const inputs = Object.entries(values).map(([name, value]) =>
    word(typeof value === "string" ? name + "=" + value : name + ":=" + JSON.stringify(value)),
  );
  const folder = appFolder === undefined ? [] : ["--app", word(appFolder)];
  const headers = fieldsWithVariables().flatMap((one) => ["-H", one]);
  return ["millrace call", ...folder, word(item.name), ...inputs, ...headers].join(" ");
}

// The longest text that a test repeats; of a longer answer it keeps a snapshot.
const LONGEST_EXPECTED = 2000;

function expectation(message) {
  const fault = failureOf(message);
  if (fault) return "error: " + JSON.stringify(fault.code);
  const { result } = message;
  const inFlow = (value) => JSON.stringify(value).replaceAll("\u2028", "\\u2028").replaceAll("\u2029", "\\u2029");
  const structured = inFlow(result?.structuredContent ?? null);
  if (structured !== "null" && structured.length <= LONGEST_EXPECTED) return "structured: " + structured;
  const [only, ...others] = Array.isArray(result?.content) ? result.content : [];
  if (isText(only) && others.length === 0 && inFlow(only.text).length <= LONGEST_EXPECTED) {
    const value = parsed(only.text);
    return value !== undefined && typeof value === "object" && value !== null
      ? "content: { json: " + inFlow(value) + " }"
      : "content: " + inFlow(only.text);
  }
  return "snapshot: true";
}

// A test of the app that repeats the call and expects the same. JSON is YAML.
function asTest(item, values, message, path) {
  const names = path === undefined ? undefined : path.split("/").at(-1);
  const place = {
    tool: names === undefined ? item.name + ".test.yaml" : "app/tools/" + path + "/" + names + ".test.yaml",
    prompt: "app/prompts/" + item.name + ".test.yaml",
    resource: "app/resources/read.test.yaml",
  }[item.kind];
  const subject =
    item.kind === "tool" && path !== undefined
      ? []
      : [item.kind + ": " + JSON.stringify(item.kind === "resource" ? addressOf(item, values) : item.name)];
  const outcome = failureOf(message) ? "is refused" : "answers";
  const inputs = item.kind === "resource" || Object.keys(values).length === 0 ? [] : ["    inputs: " + JSON.stringify(values)];
  return [
    "# " + place,
    ...subject,
    "tests:",
    "  - name: " + JSON.stringify(item.name + " " + outcome),
    ...inputs,
    "    expect:",
    "      " + expectation(message),
    "",
  ].join("\n");
}

// The buttons that copy a call. What was copied is shown, so that it can be marked where nothing may be copied.
function copyButtons(item, values, message, path) {
  const told = make("span", { class: "quiet", role: "status" });
  const shownText = make("pre", { class: "copied", hidden: true, tabindex: "0" });
  const copy = (text) => () => {
    shownText.textContent = text;
    shownText.hidden = false;
    void copied(text, shownText, told);
  };
  const command = asCommand(item, values);
  return make(
    "div",
    { class: "copies" },
    make(
      "div",
      { class: "buttons" },
      make("span", { class: "quiet" }, "Copy this call:"),
      button("curl", copy(curlOf(item, values)), { "aria-label": "Copy as curl" }),
      command ? button("millrace call", copy(command), { "aria-label": "Copy as millrace call" }) : null,
      message ? button("test", copy(asTest(item, values, message, path)), { "aria-label": "Copy as a test" }) : null,
      told,
    ),
    shownText,
  );
}
