// Where a request came to and from is another thing on each host.
export default (_, ctx) => {
  const { signal, log, progress, db, api, cache, request: { path, peer, ...request }, ...rest } = ctx;
  return { request, ...rest };
};
