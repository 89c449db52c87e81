import { applyPatches, createDraft, current, enableMapSet, enablePatches, finishDraft, freeze, original, produce, produceWithPatches } from "immer";

enableMapSet();
enablePatches();

export default function () {
  const state = freeze({ user: { name: "ada", tags: new Set(["x"]) }, list: [1, 2, 3], map: new Map([["k", { n: 1 }]]) }, true);
  const [next, patches, inverse] = produceWithPatches(state, draft => { draft.user.name = "é"; draft.list.splice(1, 1); draft.map.get("k").n++; draft.user.tags.add("y"); });
  const draft = createDraft({ a: { b: 1 } });
  draft.a.b = 2;
  const error = (() => { "use strict"; try { next.list.push(1); } catch (caught) { return caught.constructor.name; } })();
  return [next.list, [...next.user.tags], next.map.get("k"), state.list, patches, applyPatches(next, inverse).list, current(draft), original(draft), finishDraft(draft), produce(state, () => {}) === state, error];
}
