// Answers at once: what a request costs before anybody's code runs.
export default {
  async fetch(request) {
    await request.arrayBuffer();
    return Response.json({ nothing: true });
  },
};
