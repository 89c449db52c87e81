// What all drawings are made of: texts, colors, scales, and what is said of a part under the pointer.

// How many colors have a class; further ones are computed.
const COLORS = 12;
// The width of a letter, about, in the font of drawings.
const LETTER = 6.8;

// Gives a part the color of a number. No two numbers have the same.
function paint(made, index, how = "fill") {
  if (index < COLORS) made.classList.add(how + "-" + index);
  else
    made.style.setProperty(
      how,
      "hsl(" + ((index * 137.508) % 360).toFixed(1) + " " + (45 + (index % 3) * 15) + "% " + (42 + (index % 4) * 6) + "%)",
    );
  return made;
}

const swatch = (index) =>
  shape(
    "svg",
    { class: "swatch", width: 10, height: 10, viewBox: "0 0 10 10", "aria-hidden": "true" },
    paint(shape("rect", { width: 10, height: 10 }), index),
  );

const label = (x, y, text, anchor = "middle") => shape("text", { x, y, "text-anchor": anchor }, text);

const hint = (text) => shape("title", {}, text);

const short = (text, most) => (text.length > most ? text.slice(0, most - 1) + "…" : text);

const widthOf = (text) => text.length * LETTER;

// Marks a part with what is said of it under the pointer.
function says(made, text) {
  made.dataset.says = text;
  return made;
}

// Shows what the part under the pointer says.
function withTips(made) {
  const tip = make("p", { class: "tooltip", hidden: true, "aria-hidden": "true" });
  const show = (event) => {
    const part = event.target.closest?.("[data-says]");
    tip.hidden = !part;
    if (!part) return;
    tip.textContent = part.dataset.says;
    const box = made.getBoundingClientRect();
    const left = event.clientX - box.left + 12;
    tip.style.top = Math.max(0, event.clientY - box.top - 12) + "px";
    tip.style.left = Math.max(0, Math.min(left, box.width - tip.offsetWidth - 4)) + "px";
  };
  made.addEventListener("pointermove", show);
  made.addEventListener("pointerleave", () => {
    tip.hidden = true;
  });
  made.append(tip);
  return made;
}

// Round numbers that reach from the least to the greatest; with zero, unless the numbers are places.
function scale(least, greatest, isPlaces = false) {
  const low = isPlaces ? least : Math.min(0, least);
  const high = isPlaces ? greatest : Math.max(0, greatest);
  const span = high - low || Math.abs(high) || 1;
  const power = 10 ** Math.floor(Math.log10(span / 4));
  const step = [1, 2, 5, 10].map((factor) => factor * power).find((width) => span / width <= 5) ?? span;
  const first = Math.floor(low / step);
  const last = Math.max(first + 1, Math.ceil(high / step));
  const ticks = Array.from({ length: Math.min(20, last - first + 1) }, (_, index) => Number(((first + index) * step).toPrecision(12)));
  return { low: first * step, high: last * step, ticks };
}
