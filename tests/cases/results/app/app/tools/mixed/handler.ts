import { response } from "millrace";

export default () =>
  response({ rows: 2 })
    .text("for people", { audience: ["user"] })
    .text("plain")
    .image("iVBORw==", "image/png")
    .resourceLink({ uri: "test://manual", name: "manual", title: "The manual", mimeType: "text/markdown", size: 12 })
    .meta({ "example.com/took": 3 })
    .build();
