import pRetry, { AbortError } from "p-retry";

export default async function () {
  let tries = 0;
  const heard = [];
  const got = await pRetry(async attempt => { tries++; if (attempt < 3) throw new Error("é" + attempt); return attempt; }, { retries: 5, minTimeout: 1, onFailedAttempt: ({ error, attemptNumber, retriesLeft }) => heard.push([error.message, attemptNumber, retriesLeft]) });
  const stopped = await pRetry(() => { throw new AbortError("stop"); }, { retries: 3, minTimeout: 1 }).catch(error => error.message);
  const failed = await pRetry(() => Promise.reject(new Error("always")), { retries: 1, minTimeout: 1 }).catch(error => error.message);
  const signal = AbortSignal.abort(new Error("gone"));
  return [got, tries, heard, stopped, failed, await pRetry(() => 1, { signal }).catch(error => error.message)];
}
