import { Children, cloneElement, createElement as h, createRef, forwardRef, isValidElement, version } from "react";

export default function () {
  const element = h("p", { key: "k", title: "é" }, "a", h("b"));
  return [isValidElement(element), isValidElement({}), Children.count(element.props.children), Children.toArray(["x", null, h("i")]).length, cloneElement(element, { title: "z" }).props.title, element.key, createRef(), typeof forwardRef(() => null), version.split(".")[0]];
}
