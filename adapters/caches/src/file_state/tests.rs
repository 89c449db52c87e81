use std::{
    cell::Cell,
    fs,
    future::ready,
    path::Path,
    thread,
    time::{Duration, SystemTime, UNIX_EPOCH},
};

use futures_util::FutureExt as _;

use super::*;

/// A clock that is set, and goes on while somebody sleeps, who blocks the thread.
struct SetClock(Cell<u64>);

impl Clock for SetClock {
    fn now_ms(&self) -> u64 {
        self.0.get()
    }

    fn sleep(&self, duration_ms: u64) -> LocalFuture<'static, ()> {
        thread::sleep(Duration::from_millis(duration_ms));
        self.0.set(self.0.get() + duration_ms);
        Box::pin(ready(()))
    }
}

/// A clock on which each pause takes a second, as where the thread waits for the lock in between.
struct SlowClock(Cell<u64>);

const SLOW_PAUSE_MS: u64 = 1_000;

impl Clock for SlowClock {
    fn now_ms(&self) -> u64 {
        self.0.get()
    }

    fn sleep(&self, _: u64) -> LocalFuture<'static, ()> {
        self.0.set(self.0.get() + SLOW_PAUSE_MS);
        Box::pin(ready(()))
    }
}

struct Numbers;

impl Random for Numbers {
    fn fill(&self, buffer: &mut [u8]) {
        use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
        static NEXT: AtomicU64 = AtomicU64::new(1);
        buffer[..8].copy_from_slice(&NEXT.fetch_add(1, Relaxed).to_le_bytes());
    }
}

fn now<T>(future: LocalFuture<'_, T>) -> T {
    future.now_or_never().unwrap()
}

fn store_of(folder: &Path, capacity: u64) -> (Rc<SetClock>, FileState) {
    let clock = Rc::new(SetClock(Cell::new(1_000)));
    (clock.clone(), FileState::new(folder.join("a/state"), capacity, clock, Rc::new(Numbers)))
}

fn store(folder: &Path) -> FileState {
    store_of(folder, 1 << 20).1
}

fn put(store: &FileState, key: &str, owner: &str, value: &[u8]) -> Result<Option<Vec<u8>>> {
    now(store.put_if_absent(key, owner.as_bytes(), value, 60))
}

#[test]
fn counters_and_records_are_those_of_all_stores_in_the_folder() {
    let folder = tempfile::tempdir().unwrap();
    let ((clock, first), second) = (store_of(folder.path(), 1 << 20), store(folder.path()));
    assert!(!folder.path().join("a").exists(), "nothing is made before it is used");
    let add = |store: &FileState, by, most| now(store.add("c", b"me", by, most, 10)).map(|counted| (counted.added, counted.total)).unwrap();
    assert_eq!(add(&first, 0, 2), (true, 0));
    assert_eq!(
        [add(&first, 1, 2), add(&second, 1, 2), add(&first, 1, 2), add(&second, 0, 2)],
        [(true, 1), (true, 2), (false, 2), (true, 2)]
    );
    assert_eq!([add(&second, -1, 2), add(&first, 5, 6), add(&first, 0, 5)], [(true, 1), (true, 6), (false, 6)]);
    clock.0.set(11_000);
    assert_eq!(add(&first, 1, 2), (true, 1), "its time is over, however recent the last addition");

    assert_eq!(put(&first, "k", "me", b"one").unwrap(), None);
    assert_eq!(put(&second, "k", "you", b"two").unwrap().as_deref(), Some(&b"one"[..]));
    now(second.put("k", b"three", 2)).unwrap();
    assert_eq!(now(first.get("k")).unwrap(), None, "for the first one its time is over");
    assert_eq!(now(second.get("k")).unwrap().as_deref(), Some(&b"three"[..]));
    now(first.remove("k")).unwrap();
    now(first.remove("k")).unwrap();
    now(second.put("k", b"", 60)).unwrap();
    assert_eq!(now(first.get("k")).unwrap().as_deref(), Some(&b""[..]));
    let refused = now(first.put("k", &vec![0; LONGEST_RECORD + 1], 60)).unwrap_err();
    assert_eq!(refused.kind, ErrorKind::TooLarge);
    assert_eq!(fs::read_to_string(folder.path().join("a/state/.gitignore")).unwrap(), "*\n");
}

#[test]
fn what_was_kept_outlives_the_store() {
    let folder = tempfile::tempdir().unwrap();
    let first = store(folder.path());
    put(&first, "k", "me", b"kept").unwrap();
    now(first.add("c", b"me", 7, 9, 60)).unwrap();
    // As if the process had been killed: nothing is closed.
    std::mem::forget(first);
    let second = store(folder.path());
    assert_eq!(now(second.get("k")).unwrap().as_deref(), Some(&b"kept"[..]));
    assert_eq!(now(second.add("c", b"me", 0, i64::MAX, 60)).unwrap().total, 7);
}

/// What the file says of its owners, and what is there.
fn accounts(store: &FileState) -> (i64, i64, i64) {
    let slot = store.file.borrow();
    let query = "SELECT (SELECT bytes FROM whole), (SELECT coalesce(sum(bytes), 0) FROM owners), \
                 (SELECT coalesce(sum(128 + length(key) + coalesce(length(value), 0)), 0) FROM entries)";
    slot.as_ref().unwrap().connection.query_row(query, [], |row| Ok((row.get(0)?, row.get(1)?, row.get(2)?))).unwrap()
}

#[test]
fn each_owner_has_a_share_and_an_end_without_an_answer_always_fits() {
    let folder = tempfile::tempdir().unwrap();
    let (clock, store) = store_of(folder.path(), 300_000);
    let running = [7; 100];
    let begin = |key: &str, owner: &str| put(&store, key, owner, &running);
    // Answers first, then as many calls as there is room for.
    let mut answers = 0;
    loop {
        let key = format!("answer {answers}");
        begin(&key, "mallory").unwrap();
        if let Err(error) = now(store.put(&key, &[8; 5000], 60)) {
            assert_eq!(error.kind, ErrorKind::Busy);
            assert!(error.message.contains("the caller's share of the state file"), "{error}");
            now(store.put(&key, b"\"ended\"", 60)).unwrap();
            break;
        }
        answers += 1;
    }
    assert!((8..=12).contains(&answers), "{answers} answers of 5 kB in a fifth of 300 kB");
    let calls = (0..10_000).take_while(|number| begin(&format!("call {number}"), "mallory").is_ok()).count();
    assert!(calls > 50, "{calls}: answers leave room for calls");
    assert_eq!(begin("one more", "mallory").unwrap_err().kind, ErrorKind::Busy);
    assert_eq!(now(store.add("counter", b"mallory", 1, 9, 60)).unwrap_err().kind, ErrorKind::Busy);
    // Nobody else is refused, with an answer as long as any.
    begin("victim's", "victim").unwrap();
    now(store.put("victim's", &[8; 20_000], 60)).unwrap();
    now(store.put("call 0", b"\"ended\"", 60)).unwrap();
    let (whole, owners, there) = accounts(&store);
    assert_eq!((whole, owners), (there, there));
    // What has expired makes room, some of it with each new entry.
    clock.0.set(100_000);
    assert_eq!(begin("later", "mallory").unwrap(), None);
    for number in 0..calls {
        begin(&format!("new {number}"), "mallory").unwrap();
    }
    assert_eq!(accounts(&store).0, accounts(&store).2);
    // However much has expired, and however little of it one call removes.
    clock.0.set(200_000);
    assert_eq!(put(&store, "large", "mallory", &[7; 60_000]).unwrap(), None);
    assert_eq!(accounts(&store).0, accounts(&store).2);
    now(store.remove("large")).unwrap();
    assert_eq!(accounts(&store).1, accounts(&store).2);
}

#[test]
fn who_has_ended_is_known_at_once() {
    let folder = tempfile::tempdir().unwrap();
    let (first, second) = (store(folder.path()), store(folder.path()));
    let name = first.holder().unwrap().unwrap();
    assert_eq!(first.holder().unwrap().as_deref(), Some(&*name));
    assert!(first.may_run(&name) && second.may_run(&name));
    assert!(second.may_run("../../x") && second.may_run(""), "names of other stores say nothing");
    assert!(!second.may_run(&"0".repeat(32)));
    // The file of one that was killed stays, and nobody holds it.
    let held = folder.path().join(format!("a/state/.{name}.isolate"));
    drop(first);
    assert!(!held.exists() && !second.may_run(&name));
    fs::write(&held, "").unwrap();
    assert!(!second.may_run(&name));
    store(folder.path()).probe().unwrap();
    assert!(!held.exists(), "the next one that begins removes it");
}

/// The message of what the store says, and that each of its steps says it.
fn refusal(store: &FileState) -> String {
    let error = put(store, "k", "me", b"x").unwrap_err();
    assert_eq!(error.kind, ErrorKind::Unavailable);
    for other in [now(store.get("k")).unwrap_err(), now(store.add("c", b"me", 1, 9, 60)).unwrap_err(), store.probe().unwrap_err()] {
        assert_eq!(other.message, error.message);
    }
    error.into_parts().message
}

#[test]
fn a_damaged_file_is_an_error_and_stays_as_it_is() {
    let whole = {
        let folder = tempfile::tempdir().unwrap();
        let store = store(folder.path());
        for number in 0..300 {
            put(&store, &format!("{number:064}"), "me", &[7; 300]).unwrap();
        }
        drop(store);
        fs::read(folder.path().join("a/state/state.db")).unwrap()
    };
    type Damage = fn(&mut Vec<u8>);
    let damage: [(&str, Damage); 5] = [
        ("no longer a database", |bytes| bytes[..100].fill(b'x')),
        ("empty", Vec::clear),
        ("cut off", |bytes| bytes.truncate(bytes.len() / 2)),
        ("overwritten", |bytes| {
            let middle = bytes.len() / 2;
            bytes[middle..middle + 8192].fill(0x5a);
        }),
        ("another program's", |bytes| bytes[68..72].fill(0)),
    ];
    for (name, damage) in damage {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a/state/state.db");
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        let mut bytes = whole.clone();
        damage(&mut bytes);
        fs::write(&path, &bytes).unwrap();
        let message = refusal(&store(folder.path()));
        assert!(message.contains("state.db` is damaged, and nothing is done that needs it; move it away"), "{name}: {message}");
        assert_eq!(fs::read(&path).unwrap(), bytes, "{name}");
    }
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("a/state/state.db");
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    let mut later = whole;
    later[60..64].copy_from_slice(&9_u32.to_be_bytes());
    fs::write(&path, &later).unwrap();
    let message = refusal(&store(folder.path()));
    assert!(message.contains("is of another version of Millrace (9); name another folder with `MILLRACE_STATE`"), "{message}");
}

#[cfg(unix)]
#[test]
fn a_file_that_is_removed_begins_anew_for_all() {
    let folder = tempfile::tempdir().unwrap();
    let (first, second) = (store(folder.path()), store(folder.path()));
    put(&first, "k", "me", b"one").unwrap();
    assert!(put(&second, "k", "me", b"two").unwrap().is_some());
    let name = first.holder().unwrap().unwrap();
    fs::remove_file(folder.path().join("a/state/state.db")).unwrap();
    assert_eq!(put(&second, "k", "me", b"two").unwrap(), None);
    assert_eq!(put(&first, "k", "me", b"one").unwrap().as_deref(), Some(&b"two"[..]), "both have the same new one");
    assert_ne!(first.holder().unwrap().unwrap(), name);
    fs::remove_dir_all(folder.path().join("a")).unwrap();
    assert_eq!(put(&first, "k", "me", b"one").unwrap(), None);
    assert!(second.may_run(&first.holder().unwrap().unwrap()));
}

#[test]
fn a_folder_that_cannot_be_made_is_an_error() {
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("a"), "a file").unwrap();
    let store = store(folder.path());
    let message = refusal(&store);
    assert!(message.contains("a/state` cannot be written; name another one with `MILLRACE_STATE`"), "{message}");
    assert_eq!(store.holder().unwrap_err().message, message);
}

#[test]
fn a_file_that_failed_is_tried_again_after_its_rest_however_often_it_is_asked_for() {
    let folder = tempfile::tempdir().unwrap();
    let (clock, store) = store_of(folder.path(), 1 << 20);
    let path = folder.path().join("a/state/state.db");
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    fs::write(&path, "not a database, however long it is looked at").unwrap();
    refusal(&store);
    fs::remove_file(&path).unwrap();
    for _ in 1..10 {
        clock.0.set(clock.0.get() + REST_MS / 10);
        refusal(&store);
    }
    clock.0.set(clock.0.get() + REST_MS / 10);
    assert_eq!(put(&store, "k", "me", b"one").unwrap(), None);
}

#[test]
fn a_lock_that_is_never_given_back_is_an_error() {
    let folder = tempfile::tempdir().unwrap();
    let clock = Rc::new(SlowClock(Cell::new(1_000)));
    let store = FileState::new(folder.path().join("a/state"), 1 << 20, clock.clone(), Rc::new(Numbers));
    fs::create_dir_all(folder.path().join("a/state")).unwrap();
    let lock = fs::File::create(folder.path().join("a/state/.lock")).unwrap();
    lock.lock().unwrap();
    let message = put(&store, "k", "me", b"one").unwrap_err().into_parts().message;
    assert!(message.contains("is locked by another process for too long"), "{message}");
    assert!(clock.0.get() <= 1_000 + PATIENCE_MS + SLOW_PAUSE_MS);
    drop(lock);
    assert_eq!(put(&store, "k", "me", b"one").unwrap(), None);
}

#[test]
fn a_full_disk_refuses_what_is_new_and_keeps_what_is_there() {
    let folder = tempfile::tempdir().unwrap();
    let (clock, store) = store_of(folder.path(), 64 << 20);
    put(&store, "k", "me", b"kept").unwrap();
    {
        let slot = store.file.borrow();
        let connection = &slot.as_ref().unwrap().connection;
        let pages: i64 = connection.pragma_query_value(None, "page_count", |row| row.get(0)).unwrap();
        connection.execute_batch(&format!("PRAGMA max_page_count = {pages}")).unwrap();
    }
    let refused = put(&store, "new", "me", &[7; 100_000]).unwrap_err();
    assert_eq!(refused.kind, ErrorKind::Unavailable);
    assert!(refused.message.starts_with("the disk has no space left for the state file"), "{refused}");
    assert_eq!(now(store.get("k")).unwrap().as_deref(), Some(&b"kept"[..]));
    assert_eq!(now(store.get("new")).unwrap(), None, "all of it or nothing");
    now(store.put("k", b"\"ok\"", 60)).unwrap();
    clock.0.set(10_000);
    store.file.borrow().as_ref().unwrap().connection.execute_batch("PRAGMA max_page_count = 100000").unwrap();
    assert_eq!(put(&store, "new", "me", &[7; 100_000]).unwrap(), None, "it works again once there is room");
}

fn enter(store: &FileState, max: u32, queue: u32) -> Entered {
    now(store.enter("gate", max, queue, 50_000)).unwrap()
}

#[test]
fn places_are_those_of_all_stores_and_come_back() {
    let folder = tempfile::tempdir().unwrap();
    let ((clock, first), second) = (store_of(folder.path(), 1 << 20), store(folder.path()));
    let (Entered::Taken(one), Entered::Taken(two)) = (enter(&first, 2, 2), enter(&second, 2, 2)) else { panic!("two places") };
    let Entered::Waits { turn: third, ahead: 0 } = enter(&first, 2, 2) else { panic!("a turn") };
    let Entered::Waits { turn: fourth, ahead: 1 } = enter(&second, 2, 2) else { panic!("a turn behind it") };
    assert_eq!(enter(&first, 2, 2), Entered::Full);
    assert_eq!(now(first.enter("another gate", 1, 0, 50_000)).map(|entered| matches!(entered, Entered::Taken(_))), Ok(true));
    let advance = |store: &FileState, turn| now(store.advance("gate", 2, turn)).unwrap();
    assert_eq!(advance(&second, fourth), Entered::Waits { turn: fourth, ahead: 1 });
    first.leave(one);
    assert_eq!(advance(&second, fourth), Entered::Waits { turn: fourth, ahead: 1 }, "the place belongs to the one before");
    assert_eq!(advance(&first, third), Entered::Taken(third));
    assert_eq!(advance(&second, fourth), Entered::Waits { turn: fourth, ahead: 0 });
    // An isolate that ends gives back all that it has.
    drop(first);
    assert_eq!(advance(&second, fourth), Entered::Taken(fourth));
    second.leave(two);
    let (late, third) = (store(folder.path()), store(folder.path()));
    assert!(matches!(enter(&late, 2, 0), Entered::Taken(_)));
    assert_eq!(enter(&third, 2, 0), Entered::Full);
    assert!(matches!(enter(&third, 2, 1), Entered::Waits { .. }));
    drop(third);
    assert!(matches!(enter(&late, 2, 1), Entered::Waits { .. }), "and its turns");
    // A place whose time is over is free, whoever has it.
    drop(clock);
    let (clock, over) = store_of(folder.path(), 1 << 20);
    clock.0.set(60_000);
    assert!(matches!(enter(&over, 1, 0), Entered::Taken(_)));
}

#[test]
fn eight_at_once_make_one_file_and_agree() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path();
    let won: usize = thread::scope(|scope| {
        let isolates: Vec<_> = (0..8_u8)
            .map(|number| {
                scope.spawn(move || {
                    let isolate = store(path);
                    let added = (0..25).filter(|_| now(isolate.add("race", b"me", 1, 50, 60)).unwrap().added).count();
                    let kept =
                        (0..10).filter(|record| put(&isolate, &format!("race {record}"), "me", &[number]).unwrap().is_none()).count();
                    added + 1000 * kept
                })
            })
            .collect();
        isolates.into_iter().map(|isolate| isolate.join().unwrap()).sum()
    });
    assert_eq!(won, 50 + 10 * 1000);
}

/// How the file of a folder is.
fn looked(folder: &Path) -> look::FileReading {
    let file = folder.join("a/state/state.db");
    look::look().into_iter().find(|reading| reading.file == file).unwrap()
}

#[test]
fn who_looks_learns_what_there_is_and_what_was_refused() {
    let folder = tempfile::tempdir().unwrap();
    let (clock, store) = store_of(folder.path(), 100_000);
    put(&store, "k", "me", &[7; 1000]).unwrap();
    let Entered::Taken(_) = enter(&store, 1, 1) else { panic!("a place") };
    // In the file's own time its entries are over since long.
    let first = looked(folder.path());
    assert_eq!((first.used_bytes, first.max_bytes, first.entries), (128 + 1 + 1000, 100_000, 1));
    assert!(first.size_bytes > 4096 && first.overdue_ms > 1_000_000, "{first:?}");
    // Places whose time is over are none.
    let names = |reading: look::FileReading| reading.gates.into_iter().map(|gate| (gate.gate, gate.used)).collect::<Vec<_>>();
    assert!(names(first).contains(&("gate".to_owned(), 0)));
    let later = SystemTime::now().duration_since(UNIX_EPOCH).unwrap().as_millis() as u64 + 60_000;
    let held = now(store.enter("a gate of its own", 3, 1, later)).unwrap();
    assert!(matches!(held, Entered::Taken(_)) && names(looked(folder.path())).contains(&("a gate of its own".to_owned(), 1)));

    let refused = || levels::counts().unwrap().refused;
    let before = refused();
    put(&store, "large", "me", &[7; 90_000]).unwrap_err();
    now(store.put("k", &vec![0; LONGEST_RECORD + 1], 60)).unwrap_err();
    drop((clock, store));
    fs::write(folder.path().join("a/state/state.db"), "damaged").unwrap();
    put(&store_of(folder.path(), 1 << 20).1, "k", "me", b"x").unwrap_err();
    let after = refused();
    for why in [levels::Refusal::Share, levels::Refusal::Record, levels::Refusal::File] {
        assert!(after[why as usize] > before[why as usize], "{why:?}: {before:?}, then {after:?}");
    }
}

#[test]
fn a_step_that_waits_for_another_process_is_counted() {
    let folder = tempfile::tempdir().unwrap();
    let store = store(folder.path());
    put(&store, "k", "me", b"x").unwrap();
    let other = Connection::open(folder.path().join("a/state/state.db")).unwrap();
    other.execute_batch("BEGIN IMMEDIATE").unwrap();
    let before = levels::counts().unwrap();
    let error = now(store.add("c", b"me", 1, 9, 60)).unwrap_err();
    assert!(error.message.contains("is locked by another process for too long"), "{error}");
    let after = levels::counts().unwrap();
    assert!(after.waits > before.waits && after.waited >= before.waited + Duration::from_millis(500), "{before:?}, then {after:?}");
    assert!(after.refused[levels::Refusal::Lock as usize] > before.refused[levels::Refusal::Lock as usize]);
    other.execute_batch("COMMIT").unwrap();
    assert!(now(store.add("c", b"me", 1, 9, 60)).unwrap().added);
}

#[test]
fn what_has_expired_gives_its_space_back_to_the_disk() {
    let folder = tempfile::tempdir().unwrap();
    let (clock, store) = store_of(folder.path(), 512 << 20);
    let pages =
        || -> i64 { store.file.borrow().as_ref().unwrap().connection.pragma_query_value(None, "page_count", |row| row.get(0)).unwrap() };
    for number in 0..2_000 {
        now(store.put(&format!("long {number}"), &[7; 8_000], 60)).unwrap();
    }
    let (full, before) = (pages(), levels::counts().unwrap().compactions);
    assert!(full > 4_000, "{full} pages");
    clock.0.set(100_000);
    for number in 0..2_000 {
        now(store.put(&format!("short {number}"), b"x", 60)).unwrap();
    }
    let left = pages();
    assert!(left < 1_000, "{left} pages of {full} are left");
    assert!(levels::counts().unwrap().compactions > before);
    let slot = store.file.borrow();
    let found: String = slot.as_ref().unwrap().connection.query_row("PRAGMA integrity_check", [], |row| row.get(0)).unwrap();
    assert_eq!(found, "ok");
    drop(slot);
    assert_eq!(accounts(&store).0, accounts(&store).2);
    assert_eq!(now(store.get("short 7")).unwrap().as_deref(), Some(&b"x"[..]));
}
