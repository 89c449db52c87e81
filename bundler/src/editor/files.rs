//! Which table a file of the app has.

use crate::{
    adapter::ADAPTER,
    app_test::TEST_FILE,
    field::Record,
    outline::Layout,
    presenter::PRESENTER,
    prompt::PROMPT,
    resource::RESOURCE,
    root::ROOT,
    setting::FOLDER,
    skill::SKILL,
    tool::TOOL,
    tree::{is_config, is_test, is_yaml, stem},
};

/// The table of a file, by its place in the app. `None` where it is no file that the bundler reads.
pub(super) fn record_of(layout: &Layout, path: &str) -> Option<&'static Record> {
    let name = path.rsplit_once('/').map_or(path, |(_, name)| name);
    let below = |folder: &str| path.strip_prefix(folder).is_some_and(|rest| rest.starts_with('/'));
    if path == layout.root {
        return Some(&ROOT);
    }
    if is_test(name) {
        return [&layout.tools, &layout.prompts, &layout.resources].into_iter().any(|folder| below(folder)).then_some(&TEST_FILE);
    }
    if !is_yaml(name) {
        return None;
    }
    if below(&layout.tools) {
        if stem(name).eq_ignore_ascii_case("_folder") {
            return Some(&FOLDER);
        }
        return is_config(name).then_some(&TOOL);
    }
    if below(&layout.adapters) {
        return Some(&ADAPTER);
    }
    if below(&layout.presenters) {
        return Some(&PRESENTER);
    }
    if below(&layout.prompts) {
        return Some(&PROMPT);
    }
    if below(&layout.resources) {
        return is_config(name).then_some(&RESOURCE);
    }
    (below(&layout.skills) && is_config(name)).then_some(&SKILL)
}
