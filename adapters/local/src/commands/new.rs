//! `millrace new`: an app that runs at once, with what it takes to develop, connect and deploy it.

use super::first_tests::{self, Known};
use crate::{
    cli::New,
    output::{CommandResult, print},
};

mod api;
pub(super) mod folder;
pub(super) mod from;
mod project;
mod sample;

use folder::AppFolder;

pub(super) fn run(arguments: &New) -> CommandResult {
    let folder = AppFolder::new(&arguments.name)?;
    let project = match &arguments.from {
        Some(from) => match api::specification(from) {
            Some(specification) => api::write(&folder, specification, arguments)?,
            None => from::write(&folder, from, arguments)?,
        },
        None => sample::write(&folder)?,
    };
    project.write(&folder)?;
    if arguments.from.as_deref().is_some_and(|from| api::specification(from).is_none()) {
        first_tests::write(folder.path, &Known::default())?;
    }
    print(project.next_steps(&folder))
}
