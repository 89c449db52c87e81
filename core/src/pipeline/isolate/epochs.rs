//! Epochs: what keeps a cached result from being older than a write.
//!
//! The key of a cached result has the epoch of everything that the result depends on. An epoch is a
//! number that nobody has used before; a write that was carried out begins a new one, and whatever
//! was cached before is not found any more. A result is kept under the epochs from before its
//! statement was sent, so one that a write overtook is never found either.
//!
//! Epochs are records of the [`StateStore`](crate::ports::StateStore), read with each look into the
//! cache. Beside them the isolate remembers those that it has begun itself:
//!
//! | the store is | its own are remembered | another isolate's are seen |
//! |---|---|---|
//! | of the isolate | for good, and nothing is stored | never |
//! | shared | until the store has them | with the next look |
//! | shared, after a while | for [`HEARD_MS`] | after that while |
//!
//! Where the store fails, nothing is taken from the cache; what could not be stored is stored with
//! the next look. Where it is not known whether a write was carried out, or when, it may still be:
//! until the statement's time is over, the mark `unsettled` keeps its tables out of the cache.

use alloc::{
    collections::{BTreeMap, BTreeSet},
    format,
    string::String,
    vec::Vec,
};
use core::cell::{Cell, RefCell};

use crate::{
    Result,
    app::{App, CachedReads, EpochWrites},
    ports::{Exactness, Ports},
};

/// How long a store keeps an epoch, in seconds. One that it has forgotten begins anew.
const EPOCH_S: u32 = 30 * 86_400;
/// How long after the deadline of a write it may still be carried out, in seconds.
const SETTLES_S: u64 = 60;
/// How long an isolate remembers its own epochs beside a store that others hear of after a while,
/// in milliseconds.
const HEARD_MS: u64 = 3_600_000;
/// After what time a store that was told, and has not answered, is told again, in milliseconds.
const TOLD_MS: u64 = 10_000;
/// How long a failing store is not mentioned again, in milliseconds.
const QUIET_MS: u64 = 10_000;

/// A number that nobody has used before.
type Epoch = [u8; 24];

/// The epochs that this isolate has begun. There are no more than the app has things that change.
#[derive(Default)]
pub(in crate::pipeline) struct Epochs {
    own: RefCell<BTreeMap<u32, OwnEpoch>>,
    /// Until when what is unsettled stays so, in milliseconds since the Unix epoch.
    unsettled: RefCell<BTreeMap<u32, u64>>,
    begun: Cell<u64>,
    quiet_until_ms: Cell<u64>,
}

struct OwnEpoch {
    epoch: Epoch,
    told: Told,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Told {
    /// The store has been asked to keep it, at this time in milliseconds since the Unix epoch.
    Asked(u64),
    /// It keeps it since this time.
    Kept(u64),
    /// It could not.
    Failed,
}

/// What the store is still to be told of a write.
pub(in crate::pipeline) struct Begun {
    epoch: Epoch,
    epochs: Vec<u32>,
    unsettled: Vec<u32>,
    unsettled_s: u32,
}

impl Epochs {
    fn new_epoch(&self, ports: &Ports) -> Epoch {
        let mut epoch = [0; 24];
        ports.random.fill(&mut epoch);
        let begun = self.begun.get().wrapping_add(1);
        self.begun.set(begun);
        if let Some(end) = epoch.last_chunk_mut() {
            *end = begun.to_le_bytes();
        }
        epoch
    }

    /// Begins the epochs of writes, for this isolate at once. `deadline_ms`: it is not known
    /// whether they were carried out; they may be until then. `None`: there is nobody else to tell.
    pub(in crate::pipeline) fn begin<'a>(
        &self,
        ports: &Ports,
        writes: impl IntoIterator<Item = &'a EpochWrites>,
        deadline_ms: Option<u64>,
    ) -> Option<Begun> {
        let (mut epochs, mut unsettled) = (BTreeSet::new(), BTreeSet::new());
        for writes in writes {
            epochs.extend(&writes.epochs);
            unsettled.extend(&writes.unsettled);
        }
        if epochs.is_empty() {
            return None;
        }
        let (epoch, now_ms) = (self.new_epoch(ports), ports.clock.now_ms());
        let is_alone = ports.state.exactness() == Exactness::Isolate;
        let told = if is_alone { Told::Kept(now_ms) } else { Told::Asked(now_ms) };
        for index in &epochs {
            self.own.borrow_mut().insert(*index, OwnEpoch { epoch, told });
        }
        let mut unsettled_s = 0;
        match deadline_ms {
            None => unsettled.clear(),
            Some(deadline_ms) => {
                let left_s = deadline_ms.saturating_sub(now_ms).div_ceil(1000).saturating_add(SETTLES_S);
                let until_ms = now_ms.saturating_add(left_s.saturating_mul(1000));
                for index in &unsettled {
                    let mut known = self.unsettled.borrow_mut();
                    let known = known.entry(*index).or_insert(until_ms);
                    *known = until_ms.max(*known);
                }
                unsettled_s = u32::try_from(left_s).unwrap_or(u32::MAX);
            }
        }
        (!is_alone).then(|| Begun { epoch, epochs: epochs.into_iter().collect(), unsettled: unsettled.into_iter().collect(), unsettled_s })
    }

    /// Notes what became of telling the store.
    fn note(&self, begun: &Begun, now_ms: u64, exactness: Exactness, is_kept: bool) {
        let mut own = self.own.borrow_mut();
        for index in &begun.epochs {
            // A later write has begun another one.
            let Some(known) = own.get_mut(index).filter(|known| known.epoch == begun.epoch) else { continue };
            match (is_kept, exactness) {
                (false, _) => known.told = Told::Failed,
                (true, Exactness::Shared) => drop(own.remove(index)),
                (true, Exactness::Eventual | Exactness::Isolate) => known.told = Told::Kept(now_ms),
            }
        }
    }

    /// Those of the epochs that the store could not keep, begun anew.
    fn begin_again(&self, ports: &Ports, indices: &[u32]) -> Option<Begun> {
        let now_ms = ports.clock.now_ms();
        let failed = |told: Told| match told {
            Told::Failed => true,
            Told::Asked(since_ms) => since_ms.saturating_add(TOLD_MS) < now_ms,
            Told::Kept(_) => false,
        };
        let epochs: Vec<u32> = {
            let own = self.own.borrow();
            indices.iter().copied().filter(|index| own.get(index).is_some_and(|own| failed(own.told))).collect()
        };
        // Most of the time there is none, and nothing is allocated.
        if epochs.is_empty() { None } else { self.begin(ports, [&EpochWrites { epochs, unsettled: Vec::new() }], None) }
    }

    /// The isolate's own epoch, where the store may not have it.
    fn own(&self, index: u32, now_ms: u64, exactness: Exactness) -> Option<Epoch> {
        let mut own = self.own.borrow_mut();
        let known = own.get(&index)?;
        match known.told {
            Told::Kept(since_ms) if exactness == Exactness::Eventual && since_ms.saturating_add(HEARD_MS) < now_ms => {
                own.remove(&index);
                None
            }
            _ => Some(known.epoch),
        }
    }

    fn is_unsettled(&self, index: u32, now_ms: u64) -> bool {
        let mut unsettled = self.unsettled.borrow_mut();
        match unsettled.get(&index) {
            Some(until_ms) if now_ms < *until_ms => true,
            Some(_) => {
                unsettled.remove(&index);
                false
            }
            None => false,
        }
    }

    /// Whether it is time to mention a failing store again.
    pub(in crate::pipeline) fn is_loud(&self, now_ms: u64) -> bool {
        now_ms >= self.quiet_until_ms.get() && {
            self.quiet_until_ms.set(now_ms.saturating_add(QUIET_MS));
            true
        }
    }
}

/// The keys of records. All of an app's are alike up to the second `:`, so that one exchange reads
/// several.
fn keys<'a>(app: &App, indices: impl IntoIterator<Item = &'a u32>) -> Vec<String> {
    let name = |index: &u32| app.epochs.get(*index as usize).map_or("", String::as_str);
    indices.into_iter().map(|index| format!("epoch:{}:{}", app.name, name(index))).collect()
}

/// The epochs that a cached result depends on, for its key. `None`: nothing may be taken from the
/// cache now, and nothing be put there.
///
/// # Errors
/// Whatever the store reports; then nothing may, either.
pub(in crate::pipeline) async fn current(app: &App, ports: &Ports, epochs: &Epochs, reads: &CachedReads) -> Result<Option<Vec<u8>>> {
    let (now_ms, exactness) = (ports.clock.now_ms(), ports.state.exactness());
    if reads.unsettled.iter().any(|index| epochs.is_unsettled(*index, now_ms)) {
        return Ok(None);
    }
    let stored = match exactness {
        Exactness::Isolate => Vec::new(),
        Exactness::Shared | Exactness::Eventual => match stored(app, ports, epochs, reads).await? {
            Some(stored) => stored,
            None => return Ok(None),
        },
    };
    let mut text = Vec::new();
    let mut push = |bytes: &[u8]| {
        text.extend((bytes.len() as u64).to_le_bytes());
        text.extend(bytes);
    };
    for (place, index) in reads.epochs.iter().enumerate() {
        push(app.epochs.get(*index as usize).map_or(&[], |name| name.as_bytes()));
        let stored = stored.get(place).map_or(&[][..], Vec::as_slice);
        push(stored);
        // Another isolate has the same one only where it has heard of it.
        match epochs.own(*index, now_ms, exactness) {
            Some(own) if own != stored => push(&own),
            _ => push(&[]),
        }
    }
    Ok(Some(text))
}

/// What the store has; `None` where a write is unsettled.
async fn stored(app: &App, ports: &Ports, epochs: &Epochs, reads: &CachedReads) -> Result<Option<Vec<Vec<u8>>>> {
    if let Some(begun) = epochs.begin_again(ports, &reads.epochs) {
        tell(app, ports, epochs, &begun).await?;
    }
    let keys = keys(app, reads.epochs.iter().chain(&reads.unsettled));
    let mut records = ports.state.get_all(&keys).await?;
    if records.drain(reads.epochs.len().min(records.len())..).any(|unsettled| unsettled.is_some()) {
        return Ok(None);
    }
    let mut found = Vec::with_capacity(records.len());
    for (key, record) in keys.iter().zip(records) {
        found.push(match record {
            Some(record) => record,
            // Nothing may stand for an epoch that is not there: a store that forgets one would
            // bring back what was cached before it.
            None => {
                let epoch = epochs.new_epoch(ports);
                ports.state.put_if_absent(key, b"", &epoch, EPOCH_S).await?.unwrap_or_else(|| epoch.to_vec())
            }
        });
    }
    Ok(Some(found))
}

/// Tells the store of writes.
///
/// # Errors
/// Whatever the store reports. This isolate knows of the writes all the same.
pub(in crate::pipeline) async fn tell(app: &App, ports: &Ports, epochs: &Epochs, begun: &Begun) -> Result<()> {
    let told = async {
        // First: whoever sees the new epochs must not cache under them yet.
        if !begun.unsettled.is_empty() {
            ports.state.put_all(&keys(app, &begun.unsettled), b"unsettled", begun.unsettled_s).await?;
        }
        ports.state.put_all(&keys(app, &begun.epochs), &begun.epoch, EPOCH_S).await
    };
    let told = told.await;
    epochs.note(begun, ports.clock.now_ms(), ports.state.exactness(), told.is_ok());
    told
}
