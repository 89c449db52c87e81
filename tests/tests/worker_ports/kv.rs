//! Results in KV: kept for other isolates, and never in the way.

use serde_json::json;

use crate::worker_ports::kit::{Kit, with_kit};

/// The one value of a row of the table.
fn cached(kit: &Kit, tool: &str, id: u32) -> String {
    kit.value(tool, &json!({"id": id}))[0]["v"].as_str().unwrap().to_owned()
}

/// What happened, without what other requests of this file do.
fn happened(kit: &Kit) -> Vec<String> {
    let mut events = kit.stand_in(&json!({}));
    events.retain(|event| event != "turn");
    events
}

fn count(events: &[String], event: &str) -> usize {
    events.iter().filter(|known| *known == event).count()
}

/// Waits until something happened; gives what did.
fn until(kit: &Kit, event: &str) -> Vec<String> {
    let mut events = Vec::new();
    while count(&events, event) == 0 {
        events.extend(happened(kit));
    }
    events
}

/// An isolate that trusts KV, and has nothing in memory.
fn with_fresh_isolate(test: impl FnOnce(&mut Kit)) {
    with_kit(|kit| {
        kit.restart();
        test(kit);
    });
}

#[test]
fn a_result_outlives_the_isolate_for_its_time() {
    with_fresh_isolate(|kit| {
        assert_eq!((cached(kit, "cached", 1), cached(kit, "cached-briefly", 1)), ("one".into(), "one".into()));
        let events = until(kit, "put real");
        assert_eq!((count(&events, "statement"), count(&events, "get real")), (2, 2), "{events:?}");
        kit.worker().fill("DB", "UPDATE t SET v = 'changed' WHERE id = 1");
        assert_eq!((cached(kit, "cached", 1), cached(kit, "cached-briefly", 1)), ("one".into(), "one".into()));
        let events = happened(kit);
        assert_eq!(events, ["answer", "answer"], "both are in memory");

        // Before the store is on disk nothing may end workerd: it was done when `put` was answered,
        // which the next get shows.
        kit.restart();
        assert_eq!((cached(kit, "cached", 1), cached(kit, "cached-briefly", 1)), ("one".into(), "changed".into()));
        let events = happened(kit);
        assert_eq!(
            (count(&events, "statement"), count(&events, "put real")),
            (1, 0),
            "one came from KV, one is for memory only: {events:?}"
        );
        kit.stand_in(&json!({"ahead_ms": 61_000}));
        assert_eq!(cached(kit, "cached", 1), "changed", "its time is over, whatever KV still has");
        kit.worker().fill("DB", "UPDATE t SET v = 'one' WHERE id = 1");
    });
}

#[test]
fn a_call_does_not_wait_for_its_result_to_be_stored() {
    with_fresh_isolate(|kit| {
        kit.stand_in(&json!({"cache": "silent put"}));
        assert_eq!(cached(kit, "cached", 5), "five");
        let events = until(kit, "a while");
        let place = |event: &str| events.iter().position(|known| known == event).unwrap_or_else(|| panic!("no {event}: {events:?}"));
        assert!(place("put silent") < place("a while") && place("answer") < place("a while"), "{events:?}");
        let log = kit.worker().logged("the cache cannot be written");
        assert!(log.contains("the KV namespace `MILLRACE_CACHE` did not answer within 1000 ms"), "{log}");
        assert_eq!(cached(kit, "cached", 5), "five");
        // Whoever gave no answer is left alone; the next test asks it again.
        kit.stand_in(&json!({"cache": "real", "ahead_ms": 11_000}));
        assert_eq!(cached(kit, "cached", 4), "four");
        assert_eq!(count(&until(kit, "get real"), "get real"), 1);
    });
}

#[test]
fn kv_in_trouble_never_fails_a_call() {
    with_fresh_isolate(|kit| {
        let troubles = [("throws", 2, "two", "KV is not itself"), ("rejects", 3, "three", "KV GET failed: 500 Internal Server Error")];
        for (ahead_ms, (trouble, id, value, source)) in (0..).step_by(11_000).zip(troubles) {
            kit.stand_in(&json!({"cache": trouble, "ahead_ms": ahead_ms}));
            assert_eq!(cached(kit, "cached", id), value);
            let log = kit.worker().logged(source);
            for line in ["the cache cannot be read", "the KV namespace `MILLRACE_CACHE` does not work"] {
                assert!(log.contains(line), "{log}");
            }
            assert_eq!(cached(kit, "cached", id), value, "from memory");
            let events = happened(kit);
            let asked = ["get", "put"].map(|method| count(&events, &format!("{method} {trouble}")));
            assert_eq!(asked, [1, 0], "it is left alone for a while: {events:?}");
        }
        kit.stand_in(&json!({"cache": "silent", "ahead_ms": 120_000}));
        assert_eq!(cached(kit, "cached", 2), "two");
        kit.worker().logged("did not answer within 1000 ms");
        assert_eq!(cached(kit, "cached", 3), "three");
        let events = happened(kit);
        assert_eq!((count(&events, "get silent"), count(&events, "put silent")), (1, 0), "it is left alone for a while: {events:?}");
    });
}
