//! What isolates that are processes say of themselves: one small file that all of them and their
//! supervisor have open.
//!
//! In come beats, numbers of connections and the call that an isolate works on; out comes a
//! [`BoardReading`] of one isolate, also after it died. A file and not a pipe, because nobody is
//! woken by it and only the last state counts; `pwrite` into memory costs well below a microsecond.
//! An isolate writes its own place only. What is read while it is written may be half of each: a
//! supervisor acts on what stands still.

use std::{
    fs::File,
    io,
    os::unix::fs::FileExt as _,
    sync::{
        Arc, Mutex, PoisonError,
        atomic::{AtomicU64, Ordering},
    },
};

use millrace_core::ports::{Observer, RunningCall};

/// A beat and a number of connections: eight bytes each.
const HEAD: usize = 16;

/// The call that is worked on: deadline, lengths of both texts, request id, tool.
const CALL: usize = 240;
const TEXTS: usize = 10;

/// The longest request id that is kept, in bytes. A tool gets what is left.
const REQUEST_ID: usize = 96;

/// The file, with a place for each isolate.
pub struct Board {
    file: File,
    isolates: usize,
}

/// What an isolate said last.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct BoardReading {
    /// Grows while the isolate's runtime gets its turn.
    pub beat: u64,
    /// The call that it went on with last, unless it had nothing to do since.
    pub call: Option<LastCall>,
}

/// A call, as far as it was kept.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LastCall {
    /// The tool.
    pub tool: String,
    /// The id of the request.
    pub request_id: String,
    /// When the call must end, in milliseconds since the Unix epoch.
    pub deadline_ms: u64,
}

impl Board {
    /// `file` is open for reading and writing, and the same for all `isolates`.
    #[must_use]
    pub fn new(file: File, isolates: usize) -> Self {
        Self { file, isolates }
    }

    /// The file.
    #[must_use]
    pub fn file(&self) -> &File {
        &self.file
    }

    /// Makes the place of an isolate as new.
    ///
    /// # Errors
    /// The file cannot be written.
    pub fn clear(&self, index: usize) -> io::Result<()> {
        self.file.write_all_at(&[0; HEAD], (index * HEAD) as u64)?;
        self.file.write_all_at(&[0; CALL], self.call_at(index))
    }

    /// What an isolate said last.
    ///
    /// # Errors
    /// The file cannot be read.
    pub fn read(&self, index: usize) -> io::Result<BoardReading> {
        let (mut beat, mut call) = ([0; 8], [0; CALL]);
        self.file.read_exact_at(&mut beat, (index * HEAD) as u64)?;
        self.file.read_exact_at(&mut call, self.call_at(index))?;
        Ok(BoardReading { beat: u64::from_le_bytes(beat), call: decode(&call) })
    }

    fn call_at(&self, index: usize) -> u64 {
        (self.isolates * HEAD + index * CALL) as u64
    }
}

/// The place of this process's isolate. Clones share it.
#[derive(Clone)]
pub struct BoardSlot(Arc<State>);

struct State {
    board: Board,
    index: usize,
    beat: AtomicU64,
    /// What stands in the file. Only the isolate's own thread asks for it.
    written: Mutex<[u8; CALL]>,
    /// Of each isolate the last beat that was seen, and how many beats of this one ago it was new.
    seen: Mutex<Vec<(u64, u32)>>,
}

/// How many beats of its own an isolate waits for one of another before it counts on it no more.
const MISSED: u32 = 3;

impl BoardSlot {
    /// The place of the isolate with this index.
    #[must_use]
    pub fn new(board: Board, index: usize) -> Self {
        let seen = Mutex::new(vec![(0, 0); board.isolates]);
        Self(Arc::new(State { board, index, beat: AtomicU64::new(0), written: Mutex::new([0; CALL]), seen }))
    }

    /// Says that the isolate's runtime has its turn; whoever calls this is not a call of a tool, so
    /// none is being worked on.
    pub(crate) fn beat(&self) {
        let beat = self.0.beat.fetch_add(1, Ordering::Relaxed) + 1;
        self.put(0, beat);
        let mut written = self.0.written.lock().unwrap_or_else(PoisonError::into_inner);
        if *written != [0; CALL] {
            *written = [0; CALL];
            self.keep(&[0; TEXTS]);
        }
        let mut seen = self.0.seen.lock().unwrap_or_else(PoisonError::into_inner);
        for ((last, missed), (beat, _)) in seen.iter_mut().zip(self.heads().unwrap_or_default()) {
            *missed = if *last == beat { missed.saturating_add(1) } else { 0 };
            *last = beat;
        }
    }

    /// Says how many connections the isolate has.
    pub(crate) fn connections(&self, count: usize) {
        self.put(8, count as u64);
    }

    /// The connections of the isolate that has the fewest, without this one and those that do not
    /// beat. `None` where there is no other.
    pub(crate) fn fewest_elsewhere(&self) -> Option<u64> {
        let seen = self.0.seen.lock().unwrap_or_else(PoisonError::into_inner);
        let heads = self.heads().ok()?;
        let others =
            heads.into_iter().zip(&*seen).enumerate().filter(|(index, (_, (_, missed)))| *index != self.0.index && *missed < MISSED);
        others.map(|(_, ((_, connections), _))| connections).min()
    }

    /// The beat and the number of connections of each isolate.
    fn heads(&self) -> io::Result<Vec<(u64, u64)>> {
        let mut heads = vec![0; self.0.board.isolates * HEAD];
        self.0.board.file.read_exact_at(&mut heads, 0)?;
        let number = |bytes: &[u8]| bytes.try_into().map_or(0, u64::from_le_bytes);
        Ok(heads.chunks_exact(HEAD).map(|head| (number(&head[..8]), number(&head[8..]))).collect())
    }

    fn put(&self, offset: usize, number: u64) {
        // A file in memory. Without it this isolate is taken for one that is stuck, and a new one
        // begins with a good file.
        drop(self.0.board.file.write_at(&number.to_le_bytes(), (self.0.index * HEAD + offset) as u64));
    }

    fn keep(&self, call: &[u8]) {
        drop(self.0.board.file.write_at(call, self.0.board.call_at(self.0.index)));
    }
}

impl Observer for BoardSlot {
    fn entered(&self, call: &RunningCall<'_>) {
        let (encoded, length) = encode(call);
        let mut written = self.0.written.lock().unwrap_or_else(PoisonError::into_inner);
        if *written != encoded {
            *written = encoded;
            self.keep(&encoded[..length]);
        }
    }

    /// Not worth a write: the next call, or the next beat, says it.
    fn left(&self, _: &RunningCall<'_>) {}
}

/// The call, and how many bytes of it count.
fn encode(call: &RunningCall<'_>) -> ([u8; CALL], usize) {
    let mut encoded = [0; CALL];
    let request_id = &call.request_id.as_bytes()[..call.request_id.len().min(REQUEST_ID)];
    let tool = &call.tool.as_bytes()[..call.tool.len().min(CALL - TEXTS - REQUEST_ID)];
    let (middle, end) = (TEXTS + request_id.len(), TEXTS + request_id.len() + tool.len());
    encoded[..8].copy_from_slice(&call.deadline_ms.to_le_bytes());
    // Both are below 256.
    encoded[8] = request_id.len() as u8;
    encoded[9] = tool.len() as u8;
    encoded[TEXTS..middle].copy_from_slice(request_id);
    encoded[middle..end].copy_from_slice(tool);
    (encoded, end)
}

fn decode(encoded: &[u8; CALL]) -> Option<LastCall> {
    let (deadline, rest) = encoded.split_first_chunk()?;
    let ([request_id, tool], rest) = rest.split_first_chunk()?;
    let (request_id, tool) = (usize::from(*request_id), usize::from(*tool));
    let text = |from: usize, length: usize| Some(String::from_utf8_lossy(rest.get(from..from + length)?).into_owned());
    let call = LastCall { tool: text(request_id, tool)?, request_id: text(0, request_id)?, deadline_ms: u64::from_le_bytes(*deadline) };
    (tool > 0).then_some(call)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn boards(isolates: usize, count: usize) -> Vec<Board> {
        let file = tempfile::tempfile().unwrap();
        let boards: Vec<Board> = (0..count).map(|_| Board::new(file.try_clone().unwrap(), isolates)).collect();
        (0..isolates).for_each(|index| boards[0].clear(index).unwrap());
        boards
    }

    #[test]
    fn what_an_isolate_says_is_read_by_another() {
        let mut boards = boards(2, 2);
        let (board, place) = (boards.remove(0), BoardSlot::new(boards.remove(0), 1));
        assert_eq!(board.read(1).unwrap(), BoardReading::default());
        place.beat();
        let call = RunningCall { tool: "größer", request_id: "r-1", deadline_ms: u64::MAX };
        place.entered(&call);
        place.left(&call);
        let kept = LastCall { tool: "größer".into(), request_id: "r-1".into(), deadline_ms: u64::MAX };
        assert_eq!(board.read(1).unwrap(), BoardReading { beat: 1, call: Some(kept.clone()) });
        assert_eq!(board.read(0).unwrap(), BoardReading::default());
        // A beat says that nothing is worked on; the same call may go on after it.
        place.beat();
        assert_eq!(board.read(1).unwrap(), BoardReading { beat: 2, call: None });
        place.entered(&call);
        assert_eq!(board.read(1).unwrap().call, Some(kept));
        place.entered(&RunningCall { tool: "b", request_id: "", deadline_ms: 7 });
        assert_eq!(board.read(1).unwrap().call, Some(LastCall { tool: "b".into(), request_id: String::new(), deadline_ms: 7 }));
        board.clear(1).unwrap();
        assert_eq!(board.read(1).unwrap(), BoardReading::default());
    }

    #[test]
    fn long_texts_are_cut() {
        let mut boards = boards(1, 2);
        let (board, place) = (boards.remove(0), BoardSlot::new(boards.remove(0), 0));
        let long = "x".repeat(1000);
        place.entered(&RunningCall { tool: &long, request_id: &long, deadline_ms: 1 });
        let call = board.read(0).unwrap().call.unwrap();
        assert_eq!((call.request_id.len(), call.tool.len()), (REQUEST_ID, CALL - TEXTS - REQUEST_ID));
    }

    #[test]
    fn the_fewest_connections_are_those_of_another() {
        let places: Vec<BoardSlot> = boards(3, 3).into_iter().enumerate().map(|(index, board)| BoardSlot::new(board, index)).collect();
        for (place, count) in places.iter().zip([1, 5, 3]) {
            place.connections(count);
        }
        assert_eq!(places.iter().map(BoardSlot::fewest_elsewhere).collect::<Vec<_>>(), [Some(3), Some(1), Some(1)]);
        // The first does not beat: it is stuck, or there is none.
        for _ in 0..MISSED {
            places[1].beat();
            places[2].beat();
        }
        assert_eq!(places[1..].iter().map(BoardSlot::fewest_elsewhere).collect::<Vec<_>>(), [Some(3), Some(5)]);
        places[0].beat();
        places[1].beat();
        assert_eq!(places[1].fewest_elsewhere(), Some(1));
        assert_eq!(BoardSlot::new(boards(1, 1).remove(0), 0).fewest_elsewhere(), None);
    }
}
