export default () => ({ content: [{ type: "image", data: "x" }], data: 1 });
