// A failure for people: its code, what happened, and what can be done. What the model reads of it stands under “What the model sees”.

// `{ code, message, remedy, issues, stage, retryable }`, or `undefined` for a failure that a script has written itself.
function failureOf({ result, error }) {
  const fault = result?._meta?.["millrace/error"] ?? (isObject(error?.data) && error.data.code !== undefined ? error.data : undefined);
  if (!fault && !error) return undefined;
  const { code, suggestion, issues, stage, retryable } = fault ?? {};
  return {
    code: asText(code ?? error?.code ?? "ERROR"),
    message: asText(fault?.message ?? error?.message ?? "The server gave no reason."),
    // That of refused inputs tells a model how to talk.
    remedy:
      code === "VALIDATION_ERROR"
        ? "Correct these fields, and call the tool again."
        : typeof suggestion === "string"
          ? suggestion
          : undefined,
    issues: Array.isArray(issues) ? issues.filter(isObject) : [],
    stage,
    retryable: retryable === true,
  };
}

function failureNode({ code, message, remedy, issues, stage, retryable }, status) {
  const facts = [];
  if (stage !== undefined) facts.push("Stage: " + asText(stage));
  if (status >= 400) facts.push("HTTP " + status);
  if (retryable) facts.push("The same call may succeed later");
  // The message repeats the fields that follow by themselves.
  const said = issues.length > 0 ? message.replace(/\. .*$/s, ".") : message;
  return make(
    "div",
    { class: "fault" },
    make("p", { class: "code-of" }, make("code", { class: "failure" }, code)),
    make("p", { class: "said" }, ...coded(said)),
    issues.length > 0
      ? make(
          "ul",
          {},
          ...issues.map(({ field: name, message: text }) => make("li", {}, make("code", {}, asText(name ?? "")), " ", asText(text ?? ""))),
        )
      : null,
    remedy ? make("p", { class: "remedy" }, make("strong", {}, "What to do: "), ...coded(remedy)) : null,
    facts.length > 0 ? make("p", { class: "quiet" }, facts.join(" · ")) : null,
  );
}
