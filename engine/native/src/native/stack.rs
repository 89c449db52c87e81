//! The stack that scripts recurse on is that of the thread.

use std::{cell::Cell, sync::mpsc, thread};

use crate::{border::Host, frame::Message};

/// What a thread needs to have left on its stack when it enters an instance.
pub const STACK_BYTES: usize = 4 << 20;

/// How much of it code of the module may take.
pub(crate) const WASM_STACK_BYTES: usize = 2 << 20;

thread_local!(static HAS_ROOM: Cell<bool> = const { Cell::new(false) });

/// Says that this thread has [`STACK_BYTES`] left whenever it enters an instance. On every other thread the work is done on a thread of its
/// own, which costs some tens of microseconds each time. Where it is not true, a script that recurses ends the process.
pub fn has_room() {
    HAS_ROOM.set(true);
}

/// Does work that enters the module, where there is room for it.
pub(crate) fn with_room<R: Send>(host: &dyn Host, work: impl FnOnce(&dyn Host) -> R + Send) -> R {
    if HAS_ROOM.get() {
        return work(host);
    }
    let (questions, asked) = mpsc::channel();
    thread::scope(|scope| {
        let there =
            thread::Builder::new().stack_size(STACK_BYTES + WASM_STACK_BYTES).spawn_scoped(scope, move || work(&There { questions }));
        let there = match there {
            Ok(there) => there,
            // As `std::thread::spawn` does where the operating system gives no thread.
            #[expect(clippy::panic, reason = "there is no other place to run it")]
            Err(error) => panic!("no thread for a script: {error}"),
        };
        // Until the other thread is done and drops its end. The host stays on this one.
        for question in asked {
            question.answer(host);
        }
        there.join().unwrap_or_else(|payload| std::panic::resume_unwind(payload))
    })
}

/// What the module asks, while it runs on another thread.
enum Question {
    Say(i32, Message, mpsc::Sender<Option<Message>>),
    Clock(mpsc::Sender<f64>),
    Random(usize, mpsc::Sender<Vec<u8>>),
}

impl Question {
    fn answer(self, host: &dyn Host) {
        // Nobody is there to hear it where the other thread has panicked.
        match self {
            Self::Say(kind, message, to) => drop(to.send(host.say(kind, message))),
            Self::Clock(to) => drop(to.send(host.clock_ms())),
            Self::Random(length, to) => {
                let mut bytes = vec![0; length];
                host.random(&mut bytes);
                drop(to.send(bytes));
            }
        }
    }
}

/// The host, seen from another thread.
struct There {
    questions: mpsc::Sender<Question>,
}

impl There {
    fn ask<R: Default>(&self, question: impl FnOnce(mpsc::Sender<R>) -> Question) -> R {
        let (to, answer) = mpsc::channel();
        drop(self.questions.send(question(to)));
        answer.recv().unwrap_or_default()
    }
}

impl Host for There {
    fn say(&self, kind: i32, message: Message) -> Option<Message> {
        self.ask(|to| Question::Say(kind, message, to))
    }

    fn clock_ms(&self) -> f64 {
        self.ask(Question::Clock)
    }

    fn random(&self, bytes: &mut [u8]) {
        let random = self.ask(|to| Question::Random(bytes.len(), to));
        if random.len() == bytes.len() {
            bytes.copy_from_slice(&random);
        }
    }
}
