const read = async (stream: ReadableStream) => {
  const chunks: unknown[] = [];
  for await (const chunk of stream as any) chunks.push(chunk);
  return chunks;
};

export default async () => {
  const form = new FormData();
  form.append("k", "é\n");
  form.append("f", new File([new Uint8Array([0, 255])], "a.bin"));
  const back = await new Response(form).formData();
  const file = back.get("f") as File;
  const [left, right] = ReadableStream.from(["a", "b"]).tee();
  const doubled = right.pipeThrough(new TransformStream({ transform: (chunk, controller) => controller.enqueue(chunk + chunk) }));
  const { port1, port2 } = new MessageChannel();
  const message = new Promise((resolve) => { port2.onmessage = (event) => resolve(event.data); });
  port1.postMessage({ at: new Date(0) });
  const target = new EventTarget();
  let detail: unknown;
  target.addEventListener("x", (event) => { detail = (event as CustomEvent).detail; });
  target.dispatchEvent(new CustomEvent("x", { detail: 5 }));
  performance.mark("a", { startTime: 1 });
  performance.mark("b", { startTime: 3 });
  const failed = (work: () => unknown) => { try { return work(); } catch (error: any) { return `${error.name} ${error.code}`; } };
  return {
    form: [back.get("k"), file.name, file.type, file.size],
    blob: [await new Blob(["ab", new Uint8Array([99])], { type: "Text/Plain" }).slice(1).text(), (await new Response("x").blob()).type],
    streams: [await read(left), await read(doubled), await new Response("abc").body!.getReader().read().then(({ value }) => [...value!])],
    texts: [
      new TextDecoder("latin1").decode(new Uint8Array([0xe9, 0x80])),
      new TextDecoder("utf-16le").decode(new Uint8Array([0x61, 0, 0x3d, 0xd8, 0, 0xde])),
      (await read(new Response("é").body!.pipeThrough(new TextDecoderStream() as any))).join(""),
    ],
    events: [detail, await message, performance.measure("m", "a", "b").duration],
    errors: [failed(() => btoa("é€")), failed(() => atob("a")), failed(() => structuredClone(() => 1)), failed(() => new TextDecoder("big5")), failed(() => new URL("x"))],
    signal: [AbortSignal.abort("why").reason, AbortSignal.any([AbortSignal.abort(1)]).aborted, typeof AbortSignal.timeout],
    request: [new Request("https://a.example/", { method: "put", body: new URLSearchParams("a=1") }).headers.get("content-type"), Response.error().type],
    immediate: await new Promise((resolve) => setImmediate(resolve, "later")),
  };
};
