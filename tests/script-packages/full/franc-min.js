import { franc, francAll } from "franc-min";

export default function () {
  return [franc("This is a sentence in the English language for you to read"), franc("Dies ist ein deutscher Satz, der über Größe spricht"), franc("Это предложение на русском языке"), franc("これは日本語の文です"), franc("x"), francAll("O Brasil caiu 26 posições em vinte anos", { only: ["por", "spa"] })];
}
