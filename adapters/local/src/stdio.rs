//! One client on standard input and output: `--stdio` of `dev` and `serve`, and `run`.
//!
//! This process holds both streams and does nothing but pass lines on, to an isolate that is a
//! process of its own, or a thread. So a script that cannot be stopped costs its own call an error,
//! and the client keeps its server. In the order of the data:
//!
//! - [`input`]: lines out of standard input, bounded;
//! - [`pump`]: which lines wait for an answer, whose they are, and what becomes of them where their
//!   isolate ends;
//! - [`streams`]: standard input and output, taken away from everybody else of this process;
//! - [`caller`]: what calls see as header fields, from the environment.

use std::sync::{Arc, mpsc as std_mpsc};

use millrace_native::{
    isolate::Isolate,
    lines::{self, Client},
};

use crate::{
    call_log::CallLog,
    output::{CommandError, CommandResult},
    serving::{ListenOptions, Reloader, ServedApp, stop_signal},
};

mod caller;
mod input;
mod pump;
mod streams;

pub(crate) use pump::Pump;

impl ListenOptions {
    /// Serves the client on standard input and output until it ends its input, or the process is
    /// told to end; `ready` is called when lines are taken. `lists_change` says that the app may be
    /// replaced.
    ///
    /// # Errors
    /// An isolate cannot be started, a variable is wrong; what `ready` fails with.
    pub(crate) fn serve_stdio(
        &self,
        served: ServedApp,
        lists_change: bool,
        ready: impl FnOnce(Reloader, &Arc<Pump>) -> CommandResult,
    ) -> CommandResult {
        let client = Client { headers: caller::headers(std::env::vars_os())?, lists_change };
        let pump =
            Arc::new(Pump::new(streams::Streams::take().map_err(CommandError::wrong)?, served.app.server.body_limit, self.limits().grace));
        let runtime = tokio::runtime::Builder::new_current_thread().enable_io().enable_time().build().map_err(CommandError::wrong)?;
        runtime.block_on(async {
            let ready_of = pump.clone();
            let ready = move |reloader| ready(reloader, &ready_of);
            #[cfg(unix)]
            if !self.threads {
                return crate::processes::serve_lines(self, served, &client, pump, ready).await;
            }
            self.serve_lines_in_thread(&served, client, pump, ready).await
        })
    }

    async fn serve_lines_in_thread(
        &self,
        served: &ServedApp,
        client: Client,
        pump: Arc<Pump>,
        ready: impl FnOnce(Reloader) -> CommandResult,
    ) -> CommandResult {
        let signal = stop_signal().map_err(CommandError::wrong)?;
        let calls = CallLog::in_memory();
        let (make, grace) = (served.make(None, &calls), self.limits().grace);
        let (lines, receiver) = tokio::sync::mpsc::unbounded_channel();
        let (sender, messages) = std_mpsc::channel();
        // Where nobody takes messages any more, the process is about to end.
        let send = move |message| drop(sender.send(message));
        let body = move |orders| lines::serve(receiver, send, make, client, grace, orders);
        let isolate = Isolate::spawn("isolate-0", body).map_err(CommandError::wrong)?;
        pump.attach_channel(lines, messages);
        ready(Reloader::Line(isolate.jobs(), calls))?;
        let outcome = pump.run(signal).await;
        drop(isolate.jobs().send(millrace_native::isolate::Order::Stop));
        isolate.ended().await;
        outcome
    }
}
