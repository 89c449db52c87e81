// Elements. Whatever an app or a caller says is set as text: nothing here parses HTML.

const ACTIVE = /^(on|style$|href$|src$|srcset$|action$|formaction$|srcdoc$)/i;

// An element with attributes and children; a child that is a text becomes text. Attributes that could act are set nowhere but below.
function make(name, attributes = {}, ...children) {
  return filled(document.createElement(name), attributes, children);
}

// The same, for drawings.
function shape(name, attributes = {}, ...children) {
  return filled(document.createElementNS("http://www.w3.org/2000/svg", name), attributes, children);
}

function filled(made, attributes, children) {
  for (const [name, value] of Object.entries(attributes)) {
    if (ACTIVE.test(name)) throw new Error("`" + name + "` is not an attribute for data");
    if (value !== undefined && value !== false) made.setAttribute(name, value === true ? "" : value);
  }
  made.append(...children.filter((child) => child !== undefined && child !== null));
  return made;
}

// A link to another page, or its text where the address is of a kind that could act.
function link(address, ...children) {
  let url;
  try {
    url = new URL(address);
  } catch {
    /* Relative addresses mean nothing here. */
  }
  if (!url || !["http:", "https:", "mailto:"].includes(url.protocol)) return make("span", {}, ...children);
  const made = make("a", { target: "_blank", rel: "noopener noreferrer" }, ...children);
  made.href = url.href;
  return made;
}

const PICTURES = /^image\/(png|jpeg|gif|webp|avif|svg\+xml)$/;
const SOUNDS = /^audio\/[\w.+-]+$/;
const BASE64 = /^[A-Za-z0-9+/\s]*=*\s*$/;

// A picture or a sound that is part of an answer; `undefined` for every other type.
function media(type, data, description) {
  if (typeof type !== "string" || typeof data !== "string" || !BASE64.test(data)) return undefined;
  const made = PICTURES.test(type) ? make("img", { alt: description }) : SOUNDS.test(type) ? make("audio", { controls: true }) : undefined;
  if (made) made.src = "data:" + type + ";base64," + data;
  return made;
}

const button = (text, act, attributes = {}) => {
  const made = make("button", { type: "button", ...attributes }, text);
  made.addEventListener("click", act);
  return made;
};

// A text as it is. What is longer than its box can be scrolled with the keyboard.
const verbatim = (...text) => make("pre", { tabindex: "0" }, ...text);

// A text whose parts in back-ticks are code.
const coded = (text) =>
  text
    .split(/(`[^`]+`)/)
    .filter(Boolean)
    .map((part) => (/^`[^`]+`$/.test(part) ? make("code", {}, part.slice(1, -1)) : part));

const asText = (value) => (typeof value === "string" ? value : JSON.stringify(value));

const isObject = (value) => typeof value === "object" && value !== null && !Array.isArray(value);

function parsed(text) {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

const bytes = (text) => new TextEncoder().encode(text).length;

const thousands = (number) => String(number).replace(/\B(?=(\d{3})+$)/g, ",");

const milliseconds = (ms) => ms.toFixed(ms < 10 ? 2 : ms < 100 ? 1 : 0) + " ms";

// A name for an element that others refer to.
let lastName = 0;
const fresh = (word) => word + "-" + ++lastName;

const CONTROLS = "input, select, textarea";

// The first control of an element that can be seen.
const firstControl = (node) => [...node.querySelectorAll(CONTROLS)].find((control) => control.checkVisibility());

// Says something to people who hear the page. The same text twice is said twice.
function announce(text) {
  const region = document.getElementById("said");
  region.textContent = region.textContent === text ? text + "\u00a0" : text;
}

// Copies a text, or marks it where a page may not: only pages of this machine and those of HTTPS have a clipboard.
async function copied(text, from, told) {
  try {
    await navigator.clipboard.writeText(text);
    told.textContent = "Copied.";
  } catch {
    getSelection().selectAllChildren(from);
    told.textContent = "Marked: copy it with the keyboard.";
  }
}

// What is done once nothing more happens for a moment.
function settling(act, ms) {
  let waiting;
  return (...given) => {
    clearTimeout(waiting);
    waiting = setTimeout(() => act(...given), ms);
  };
}
