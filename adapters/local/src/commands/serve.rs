//! `millrace serve`: a bundle as a server.

use std::sync::Arc;

use source::{Summary, load};

use crate::{
    cli::Serve,
    output::{CommandResult, print_line},
    serving::ListenOptions,
};

pub(super) mod data;
#[cfg(unix)]
mod renewal;
mod source;

pub(super) fn run(arguments: Serve, log: &str) -> CommandResult {
    let mut served = load(&arguments)?;
    if arguments.host.stdio {
        return ListenOptions::of_stdio(&arguments.host.isolate, log).serve_stdio(served, false, |_, _| Ok(()));
    }
    let place = ListenOptions::of(&arguments.host, Arc::make_mut(&mut served.app), &served.variables, log)?;
    let (scheme, summary) = (place.scheme(), Summary::of(&served.app));
    #[cfg(unix)]
    let renewals = renewal::Renewals::prepare(arguments, &place)?;
    place.serve(served, |address, reloader| {
        let line = summary.at(scheme, address);
        #[cfg(unix)]
        {
            renewals.begin(reloader, address, scheme)?;
            crate::service_manager::is_ready(&line);
        }
        #[cfg(not(unix))]
        drop(reloader);
        print_line(line)
    })
}
