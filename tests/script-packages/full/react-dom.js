import { createElement as h, createContext, Fragment, memo, useContext, useId, useMemo, useState } from "react";
import { renderToStaticMarkup, renderToString } from "react-dom/server";

const Theme = createContext("light");
const Item = memo(({ name, children }) => h("li", { className: useContext(Theme), "data-x": name, style: { color: "red", marginTop: 4 } }, name, children));

export default function () {
  const App = () => { const [n] = useState(3); const id = useId(); const doubled = useMemo(() => n * 2, [n]); return h(Theme.Provider, { value: "dark" }, h("ul", { id: id.length > 0 ? "u" : "" }, [1, 2].map(k => h(Item, { key: k, name: `<é${k}>` }, h("b", null, doubled))), h(Fragment, null, "a", "b", null, false, 0))); };
  return [renderToStaticMarkup(h(App)), renderToString(h("p", { onClick() {}, hidden: true, dangerouslySetInnerHTML: { __html: "<i>x</i>" } })), (() => { try { renderToString(h(() => { throw new Error("bröken"); })); } catch (error) { return error.message; } })()];
}
