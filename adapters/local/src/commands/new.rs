//! `millrace new`: an app that runs at once, with what it takes to develop, connect and deploy it.

use std::path::{Component, Path};

use crate::{
    cli::New,
    output::{CommandError, CommandResult, print},
};

mod folder;
mod project;
mod sample;

use folder::AppFolder;

pub(super) fn run(arguments: &New) -> CommandResult {
    let folder = AppFolder::new(&arguments.name)?;
    let project = sample::write(&folder)?;
    project.write(&folder)?;
    print(project.next_steps(&folder))
}

/// The name of the app that a folder makes.
fn name_of(folder: &Path) -> CommandResult<&str> {
    folder.file_name().and_then(|name| name.to_str()).filter(|name| is_name(name)).ok_or_else(|| {
        let rule = "a name has small letters, digits, `-` and `_`, and begins with a letter";
        CommandError::Usage(format!("`{}` cannot be an app's name: {rule}", folder.display()))
    })
}

/// What such a path names depends on folders that may not be there yet.
fn has_parent_after_name(folder: &Path) -> bool {
    folder.components().skip_while(|part| *part == Component::ParentDir).any(|part| part == Component::ParentDir)
}

fn is_name(name: &str) -> bool {
    name.starts_with(|first: char| first.is_ascii_lowercase())
        && name.bytes().all(|byte| byte.is_ascii_lowercase() || byte.is_ascii_digit() || b"-_".contains(&byte))
}
