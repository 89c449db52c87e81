use alloc::string::String;

use serde::{Deserialize, Serialize};

/// One exported function of a script.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ScriptRef {
    /// Index into [`App::scripts`](super::App::scripts).
    pub script: u32,
    /// `default`, or the name after `#`.
    pub export: String,
}
