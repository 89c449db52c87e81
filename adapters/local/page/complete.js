// What an argument of a prompt, or a variable of a resource's address, may be: the server's suggestions, offered while one types.

const PAUSE_OF_TYPING = 120;

// Whether the server suggests anything, which it says when it is asked who it is.
let suggests = false;

function withSuggestions({ kind, name, entry }, form) {
  if (kind === "tool" || !suggests) return;
  const ref = kind === "prompt" ? { type: "ref/prompt", name } : { type: "ref/resource", uri: entry.uriTemplate ?? entry.uri };
  for (const input of form.querySelectorAll(".fields input[type=text]")) {
    const list = make("datalist", { id: fresh("suggestions") });
    input.after(list);
    input.setAttribute("list", list.id);
    let last = 0;
    const look = async () => {
      const own = ++last;
      const others = [...form.querySelectorAll(".fields input[type=text]")].filter((other) => other !== input && other.value !== "");
      const context = { arguments: Object.fromEntries(others.map((other) => [other.name, other.value])) };
      const { message } = await ask("completion/complete", { ref, argument: { name: input.name, value: input.value }, context });
      const values = message.result?.completion?.values;
      if (own !== last || !Array.isArray(values)) return;
      list.replaceChildren(...values.map((value) => make("option", { value: asText(value) })));
    };
    // A server that cannot be reached suggests nothing; the call itself says so.
    const lookQuietly = () => void look().catch(() => {});
    input.addEventListener("focus", lookQuietly);
    input.addEventListener("input", settling(lookQuietly, PAUSE_OF_TYPING));
  }
}
