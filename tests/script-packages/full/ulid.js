import { decodeTime, encodeTime, isValid, monotonicFactory, ulid, ulidToUUID, uuidToULID } from "ulid";

export default function () {
  const next = monotonicFactory(() => 0.5);
  const id = ulid(1469918176385);
  return [id.slice(0, 10), id.length, decodeTime(id), next(150000), next(150000), next(100000), encodeTime(1469918176385, 10), isValid("x"), ulidToUUID("01ARZ3NDEKTSV4RRFFQ69G5FAV"), uuidToULID("01563e3a-b5d3-d676-4c61-efb99302bd5b")];
}
