// How a client is connected to this app: the lines that `millrace connect` prints, with the address that this page came from.

const here = location.origin + document.body.dataset.path;

function copyable(text) {
  const shown = make("pre", { tabindex: "0" }, text);
  const told = make("span", { class: "quiet", role: "status" });
  return make(
    "div",
    { class: "copyable" },
    shown,
    make(
      "div",
      { class: "buttons" },
      button("Copy", () => copied(text, shown, told)),
      told,
    ),
  );
}

const plain = (text) => text.replaceAll("{{url}}", here);

// Text with `code` and *emphasis*; only the former is drawn.
const words = (text) => coded(plain(text).replace(/\*([^*]+)\*/g, "“$1”"));

// One way to connect: what goes into a file, what is typed, what is done, what to know.
function way(title, { configuration, command, steps, notes }, file) {
  return make(
    "section",
    { class: "way" },
    make("h3", {}, title),
    steps.length > 0 ? make("ol", {}, ...steps.map((step) => make("li", {}, ...words(step)))) : null,
    configuration && file ? make("p", {}, "Add this to ", make("code", {}, file), ":") : null,
    configuration ? copyable(plain(configuration).trimEnd()) : null,
    configuration && command ? make("p", {}, "The same as a command:") : null,
    command ? copyable(plain(command)) : null,
    ...notes.map((note) => make("p", { class: "quiet" }, ...words(note))),
  );
}

// The panel. `chosen` is the client that was open before.
function connectPanel(clients, chosen, choose) {
  const select = make(
    "select",
    { id: "client", "aria-label": "Client" },
    ...clients.map(({ id, name }) => make("option", { value: id, selected: id === chosen }, name)),
  );
  const shown = make("div", { "aria-live": "polite" });
  const show = () => {
    const client = clients.find(({ id }) => id === select.value);
    if (!client) return;
    choose(client.id);
    shown.replaceChildren(
      make("p", {}, ...words("Addresses: " + client.addresses + ". Sends a key: " + client.key + ".")),
      client.command ? way("The client starts the app", client.command, client.file) : "",
      way(client.command ? "The client connects to this server" : "Connect", client.address, client.file),
    );
  };
  select.addEventListener("change", show);
  show();
  return make("section", { class: "item connect" }, make("h2", {}, "Connect your client"), select, shown);
}
