// Looks at a built site with the tools of others: `node site.mjs CHECK FOLDER`. Prints what it found, and fails if that is anything.
// MILLRACE_JUDGES is the folder of `tests/site/package.json`, installed; MILLRACE_BROWSER the browser.
import { createServer } from "node:http";
import { createRequire } from "node:module";
import { existsSync, globSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { Browser } from "../clients/browser.mjs";

const require = createRequire(join(process.env.MILLRACE_JUDGES, "judges.js"));
const [check, folder] = process.argv.slice(2);
const pages = globSync("**/*.html", { cwd: folder }).filter((page) => page !== "404.html").sort();
const text = (file) => readFileSync(join(folder, file), "utf8");
const parse = (html) => require("node-html-parser").parse(html);
const markdown = (page) => page.replace(/html$/, "md");
// One of each kind, with the longest tables, the most code and a picture.
const LOOKED_AT = ["index.html", "tutorial.html", "clients.html", "scripts.html", "reference/tools.html", "page.html"];
const TYPES = { html: "text/html; charset=utf-8", js: "text/javascript", css: "text/css", json: "application/json", png: "image/png" };

// The files of the site on a port, until `use` ends.
async function served(use) {
  const server = createServer(({ url }, response) => {
    const path = decodeURIComponent(new URL(url, "http://site").pathname).slice(1);
    if (!existsSync(join(folder, path)) || path === "" || path.endsWith("/")) return response.writeHead(404).end();
    response.writeHead(200, { "content-type": TYPES[path.split(".").at(-1)] ?? "text/plain; charset=utf-8" }).end(readFileSync(join(folder, path)));
  });
  await new Promise((listening) => server.listen(0, "127.0.0.1", listening));
  try {
    return await use(`http://127.0.0.1:${server.address().port}/`);
  } finally {
    server.closeAllConnections();
    server.close();
  }
}

async function browsed(use) {
  return served(async (site) => {
    const browser = await Browser.start(process.env.MILLRACE_BROWSER ?? "chromium-headless-shell");
    await browser.screen(1280, 900);
    const open = async (page) => {
      await browser.send("Page.navigate", { url: site + page });
      while (!(await browser.evaluate(`location.href === ${JSON.stringify(site + page)} && document.readyState === "complete"`))) continue;
    };
    try {
      return await use(browser, open);
    } finally {
      browser.end();
    }
  });
}

const CHECKS = {
  // No link, anchor or picture is broken.
  async links() {
    const { LinkChecker } = require("linkinator");
    return served(async (site) => {
      const outside = (link) => Promise.resolve(!link.startsWith(site));
      const found = await new LinkChecker().check({ path: pages.map((page) => site + page), recurse: true, checkFragments: true, linksToSkip: outside });
      const broken = found.links.filter(({ state }) => state === "BROKEN").map(({ url, parent, status }) => `${url} in ${parent}: ${status}`);
      const looked = found.links.filter(({ state }) => state === "OK").length;
      return looked > pages.length ? broken : [`only ${looked} links were looked at`];
    });
  },

  // The HTML is what its standard says. Two of the rules are about what the theme writes, and does not harm.
  async html() {
    const { HtmlValidate } = require("html-validate");
    const rules = { "valid-autocomplete": "off", "attribute-allowed-values": "off" };
    const judge = new HtmlValidate({ extends: ["html-validate:standard"], rules });
    const found = [];
    for (const page of pages) {
      const { results } = await judge.validateString(text(page), page);
      for (const { messages } of results)
        for (const { line, ruleId, message } of messages) found.push(`${page}:${line} ${ruleId}: ${message}`);
    }
    return found;
  },

  // A page has what a forge would show: the same headings, lists, tables, code and links, by a reader of CommonMark.
  async forge() {
    const MarkdownIt = require("markdown-it");
    const reader = new (MarkdownIt.default ?? MarkdownIt)({ html: true });
    const found = [];
    for (const page of pages) {
      const expected = parse(reader.render(text(markdown(page))));
      const article = parse(text(page)).querySelector("article");
      article.querySelectorAll(".headerlink, .md-content__button, .md-source-file").forEach((own) => own.remove());
      for (const tag of ["h1", "h2", "h3", "p", "ol", "ul", "li", "tr", "th", "td", "strong", "em", "a[href]", "img", "code"]) {
        const words = (root) => root.querySelectorAll(tag).map((node) => node.textContent.replace(/\s+/g, " ").trim());
        const [forge, site] = [words(expected), words(article)];
        const at = forge.findIndex((each, index) => each !== site[index]);
        if (at >= 0 || forge.length !== site.length) found.push(`${page}: \`${tag}\` is \`${site[at]}\` on the site, and \`${forge[at]}\` on a forge`);
      }
    }
    return found;
  },

  // What everybody gets without JavaScript: the text, the way to every page, the next one and the one before.
  async "without-javascript"() {
    const found = [];
    const version = readFileSync(join(import.meta.dirname, "../../Cargo.toml"), "utf8").match(/^version = "(.+)"$/m)[1];
    for (const page of pages) {
      const html = parse(text(page));
      const reached = new Set(html.querySelectorAll(".md-nav a[href]").map((link) => new URL(link.getAttribute("href"), "http://site/" + page).pathname.slice(1)));
      const missing = pages.filter((other) => other !== page && !reached.has(other));
      if (missing.length > 0) found.push(`${page} does not lead to ${missing.join(", ")}`);
      const beside = html.querySelectorAll("link[rel=next], link[rel=prev]").length;
      if (beside < (page === "index.html" || page === "changelog.html" ? 1 : 2)) found.push(`${page} has no page before or after it`);
      if (!html.textContent.includes(`Millrace ${version}`)) found.push(`${page} does not say the version`);
      if (!html.querySelector("a[rel=edit], a[title='Edit this page']")) found.push(`${page} has no link to edit it`);
      if (html.querySelector("article").textContent.trim().length < 200) found.push(`${page} has no text`);
    }
    const requests = new Set();
    await browsed(async (browser, open) => {
      await open("index.html");
      browser.requests.filter((url) => !url.startsWith("data:")).forEach((url) => requests.add(new URL(url).hostname));
    });
    if (requests.size !== 1) found.push(`a page asks ${[...requests].join(", ")}`);
    return found;
  },

  // axe-core finds nothing, neither by day nor by night.
  async axe() {
    const axe = readFileSync(require.resolve("axe-core/axe.min.js"), "utf8");
    return browsed(async (browser, open) => {
      const found = [];
      for (const scheme of ["light", "dark"]) {
        await browser.prefers(scheme);
        for (const page of scheme === "light" ? LOOKED_AT : LOOKED_AT.slice(-3)) {
          await open(page);
          const shown = await browser.evaluate("document.body.dataset.mdColorScheme");
          if (shown !== (scheme === "dark" ? "slate" : "default")) found.push(`${page} is shown in the colors \`${shown}\` to who wants ${scheme}`);
          await browser.evaluate(axe + ";0");
          const faults = "axe.run(document).then(({ violations }) => violations.map(({ id, nodes }) => id + ': ' + nodes[0].html))";
          for (const fault of await browser.evaluate(faults)) found.push(`${page} (${scheme}): ${fault}`);
        }
      }
      return found;
    });
  },

  // Who searches for words finds the page that has them.
  async search() {
    return browsed(async (browser, open) => {
      await open("index.html");
      await browser.evaluate("document.querySelector('.md-search__button').click()");
      const shadow = "[...document.querySelectorAll('*')].find((node) => node.shadowRoot?.querySelector('input'))?.shadowRoot";
      while (!(await browser.evaluate(`${shadow}?.activeElement?.tagName === 'INPUT'`))) continue;
      await browser.type("idempotency");
      while (!(await browser.evaluate(`${shadow}.querySelectorAll('ol a').length > 0`))) continue;
      const first = await browser.evaluate(`${shadow}.querySelector('ol a').href`);
      return first.includes("/idempotency.html") ? [] : [`the first page found is ${first}`];
    });
  },
};

// A page that never becomes what is waited for is a failure, and no test that hangs.
setTimeout(() => {
  console.log("the check did not end within two minutes");
  process.exit(1);
}, 120_000).unref();
const found = await CHECKS[check]();
for (const one of found.slice(0, 40)) console.log(one);
process.exit(found.length > 0 || pages.length < 40 ? 1 : 0);
