// What the theme leaves to be desired where a page has many blocks of code: the button that copies one is in a landmark, which needs a name of
// its own; and a block or a table that is scrolled must take the focus, so that the keyboard scrolls it.
let named = 0;
const blocks = () => {
  document.querySelectorAll("nav.md-code__nav:not([aria-label])").forEach((nav) => nav.setAttribute("aria-label", "Block of code " + ++named));
  document.querySelectorAll("pre > code:not([tabindex='0'])").forEach((code) => code.setAttribute("tabindex", "0"));
  document.querySelectorAll(".md-typeset__scrollwrap:not([tabindex])").forEach((wrap) => {
    if (wrap.scrollWidth > wrap.clientWidth) wrap.setAttribute("tabindex", "0");
  });
};
new MutationObserver(blocks).observe(document.body, { subtree: true, childList: true, attributeFilter: ["tabindex"] });
blocks();
addEventListener("resize", blocks);
