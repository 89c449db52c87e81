import * as cases from "change-case";

export default function () {
  const text = "fooBar XMLHttpRequest élan_vital 42nd-street";
  return [
    cases.camelCase(text), cases.pascalCase(text), cases.snakeCase(text), cases.kebabCase(text), cases.constantCase(text),
    cases.capitalCase(text), cases.dotCase(text), cases.sentenceCase(text), cases.trainCase(text), cases.split("ÀÉÎ theseWords"),
  ];
}
