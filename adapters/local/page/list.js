// The list on the left: tools by their folder, prompts, resources. Of many, those out of sight are not drawn, which the browser sees to. The list is
// one stop of the Tab key; the arrows go through it.

// What an entry says besides its name: what is unusual alone. Nearly every tool only reads.
const QUIET = new Set(["read-only", "idempotent", "open world", "not destructive"]);

function listEntry(item, key, about, act) {
  const badges = badgesOf(item, about);
  const text = [item.name, item.title, item.entry.description, about?.path, ...badges.map(([badge]) => badge)].filter(Boolean).join(" ");
  const made = button("", act, { "data-key": key, "data-text": text.toLowerCase(), tabindex: "-1" });
  const shown = badges.filter(([badge]) => !badge.startsWith("#") && !QUIET.has(badge));
  made.append(make("span", { class: "mono" }, item.name));
  if (item.entry.description) made.append(" ", make("small", {}, item.entry.description));
  for (const badge of shown) made.append(" ", badgeList([badge], "span"));
  // What is not drawn has no text for those who hear the page: it is said outright, as it is seen.
  made.setAttribute("aria-label", made.textContent);
  return made;
}

// The folder of a tool, below the folder of all tools; empty where it lies in that.
const folderOf = (about) => about?.path?.split("/").slice(0, -1).join("/") ?? "";

// From how many entries on those out of sight are not drawn.
const MANY_ENTRIES = 100;

// The section of one kind: its heading, and its entries, by folder where there are several.
function listSection(title, kind, items, aboutOf, entryOf) {
  const section = make("section", { "data-kind": kind, "data-title": title });
  if (items.length > 0) section.append(make("h2", { id: fresh("list") }, ""));
  const folders = new Map();
  for (const item of items) {
    const folder = kind === "tool" ? folderOf(aboutOf(item)) : "";
    if (!folders.has(folder)) folders.set(folder, []);
    folders.get(folder).push(item);
  }
  const sorted = [...folders].sort(([a], [b]) => compare(a, b));
  for (const [folder, members] of sorted) {
    const group = make("div", { class: "folder" });
    if (folder !== "") group.append(make("h3", { class: "mono" }, folder + "/"));
    group.append(...members.map(entryOf));
    section.append(group);
  }
  return section;
}

// Shows the entries that have all words, and says how many. `all`: the element that has the sections.
function filterList(all, text) {
  performance.mark("millrace-list-begin");
  all.toggleAttribute("data-long", all.querySelectorAll("button").length > MANY_ENTRIES);
  const words = text.toLowerCase().split(/\s+/).filter(Boolean);
  let found = 0;
  for (const section of all.querySelectorAll("section")) {
    let own = 0;
    const entries = section.querySelectorAll("button");
    for (const group of section.querySelectorAll(".folder")) {
      let inGroup = 0;
      for (const entry of group.querySelectorAll("button")) {
        const fits = words.every((one) => entry.dataset.text.includes(one));
        // What is written costs a layout, changed or not.
        if (entry.hidden === fits) entry.hidden = !fits;
        if (fits) inGroup += 1;
      }
      group.hidden = inGroup === 0;
      own += inGroup;
    }
    section.hidden = entries.length > 0 && own === 0;
    const heading = section.querySelector("h2");
    const count = own === entries.length ? String(own) : own + " of " + entries.length;
    if (heading && entries.length > 0) heading.textContent = section.dataset.title + " (" + count + ")";
    found += own;
  }
  document.getElementById("none")?.remove();
  if (words.length > 0 && found === 0) all.append(make("p", { id: "none", class: "quiet" }, "Nothing has these words."));
  performance.measure("millrace-list", "millrace-list-begin");
  return found;
}

// The one entry that the Tab key stops at: the open one, or the first in sight.
function setStop(all) {
  const entries = [...all.querySelectorAll("button")];
  const open = entries.find((entry) => entry.getAttribute("aria-current") === "true" && !entry.hidden);
  const stop = open ?? entries.find((entry) => !entry.hidden && !entry.closest("section").hidden);
  for (const entry of all.querySelectorAll("button[tabindex='0']")) if (entry !== stop) entry.tabIndex = -1;
  if (stop) stop.tabIndex = 0;
}
