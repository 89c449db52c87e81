import { response } from "millrace";

const wrong = {
  base64: () => response().image("no base64!", "image/png"),
  unpadded: () => response().image("iVBORw", "image/png"),
  mime: () => response().image("iVBORw==", "audio/wav"),
  "no-mime": () => response().audio("iVBORw=="),
  uri: () => response().resourceLink({ uri: "no scheme", name: "x" }),
  name: () => response().resourceLink({ uri: "a:b" }),
  both: () => response().resource({ uri: "a:b", text: "x", blob: "eA==" }),
  audience: () => response().text("x", { audience: ["everyone"] }),
  priority: () => response().text("x", { priority: 2 }),
  annotation: () => response().text("x", { colour: "red" }),
  member: () => response().resourceLink({ uri: "a:b", name: "x", size: 1, weight: 2 }),
  icons: () => response().resourceLink({ uri: "a:b", name: "x", icons: [{ src: "http://plain" }] }),
  meta: () => response().meta({ "io.modelcontextprotocol/serverInfo": 1 }),
};
export default ({ inputs }) => wrong[inputs.which]().build();
