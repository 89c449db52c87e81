//! `limits.rate`, `limits.concurrency`, and `rate_limit` of the middleware.

use millrace_core::app::{Concurrency, RateLimit};

use crate::{
    compiler::Compiler,
    field::{Field, Record, Shape, duration_ms},
    scope::{IN_MIDDLEWARE, PathScope, ToolScope},
    yaml::{Data, Document, Node},
};

/// `limits.rate`
pub(crate) static RATE: Record = Record {
    name: "rate",
    noun: "`limits.rate`",
    doc: "How often each tool may be called, counted for each tool apart. A call above the limit is refused with `RATE_LIMITED` and the time after which it can succeed.",
    fields: &RATE_FIELDS,
};

/// `rate_limit`
pub(crate) static RATE_LIMIT: Record = Record {
    name: "rate_limit",
    noun: "`rate_limit`",
    doc: "How often calls may come this far, those of all tools that have this entry together. A call above the limit is refused with `RATE_LIMITED` and the time after which it can succeed.",
    fields: &RATE_FIELDS,
};

const RATE_FIELDS: [Field; 3] = [
    Field::new("window", Shape::Duration, "The span of time in which calls are counted, in whole seconds: `1s` to `24h`.").required(),
    Field::new("max", Shape::Int(1, 1_000_000), "How many calls with the same key are allowed in one window.").required(),
    Field::new(
        "key",
        Shape::Text,
        "What calls are counted by, with placeholders: `{{ auth.claims.tenant }}`. It may use `auth`, `inputs`, `ctx` and `request`. No store and no caller sees it.",
    ).sees(IN_MIDDLEWARE)
    .default("the whole identity of the caller; callers without one share a count"),
];

/// `limits.concurrency`
pub(crate) static CONCURRENCY: Record = Record {
    name: "concurrency",
    noun: "`limits.concurrency`",
    doc: "How many calls of each tool one isolate runs at a time. A call that finds no place, neither to run nor to wait, is refused with `SERVER_BUSY`.",
    fields: &[
        Field::new("max", Shape::Int(1, 10_000), "How many calls of a tool run at a time.").required(),
        Field::new("queue", Shape::Int(0, 10_000), "How many calls wait for a place; the first that came is the first that runs.")
            .default("0"),
        Field::new("wait", Shape::Duration, "How long a call waits for a place.").default("5s"),
    ],
};

/// The shortest and the longest window, in seconds.
const WINDOW_S: std::ops::RangeInclusive<u32> = 1..=86_400;
/// How long a call waits for a place where its author does not say.
const WAIT_MS: u32 = 5_000;

/// A block of `limits`, and the file in which it stands.
#[derive(Clone, Debug)]
pub(crate) struct LimitBlock {
    document: Document,
    node: Node,
}

impl LimitBlock {
    /// The block of that name, where there is one.
    pub(crate) fn of(document: &Document, limits: &Node, name: &str) -> Option<Self> {
        limits.at(name).map(|node| Self { document: document.clone(), node: node.clone() })
    }

    /// Where it stands.
    pub(crate) fn place(&self) -> String {
        self.document.source.place(self.node.range.start)
    }

    /// `limits.rate` of a tool.
    pub(crate) fn rate(&self, compiler: &mut Compiler<'_>, scope: &ToolScope<'_>) -> Option<RateLimit> {
        rate(compiler, &self.document, &self.node, &scope.of_middleware())
    }

    /// `limits.concurrency` of a tool.
    pub(crate) fn concurrency(&self, compiler: &mut Compiler<'_>) -> Option<Concurrency> {
        let Self { document, node } = self;
        let max = number(node.at("max")?)?;
        let queue = node.at("queue").and_then(number).unwrap_or(0);
        if let (0, Some(wait)) = (queue, node.entry("wait")) {
            let help = "Set `queue` to how many calls may wait, or remove `wait`.";
            compiler.error(document, wait.key_range.clone(), "`limits.concurrency.wait` has no effect: no call waits", help);
        }
        let wait = node.at("wait").and_then(|node| duration_ms(node.text()?));
        let wait_ms = match queue {
            0 => 0,
            _ => wait.unwrap_or(WAIT_MS),
        };
        Some(Concurrency { max, queue, wait_ms })
    }
}

/// Reads `limits.rate`, or `rate_limit`.
pub(crate) fn rate(compiler: &mut Compiler<'_>, document: &Document, node: &Node, scope: &PathScope) -> Option<RateLimit> {
    let max = node.at("max").and_then(number);
    let key = node.at("key").map(|key| compiler.value_template(document, key, scope));
    let window = node.at("window")?;
    let window_ms = duration_ms(window.text()?)?;
    let window_s = window_ms / 1000;
    if window_ms % 1000 != 0 || !WINDOW_S.contains(&window_s) {
        compiler.error(document, window.range.clone(), "`window` must be between 1 s and 24 h, in whole seconds", "Write `60s`, or `1h`.");
        return None;
    }
    if let (Some(key), Some(node)) = (&key, node.at("key"))
        && key.placeholders.is_empty()
    {
        let help = "Use a placeholder, such as `{{ auth.subject }}`. Without `key`, each caller has a count.";
        compiler.warning(document, node.range.clone(), "this key is the same for every call: all callers share one count", help);
    }
    Some(RateLimit { max: max?, window_s, key })
}

fn number(node: &Node) -> Option<u32> {
    match node.data {
        Data::Int(value) => u32::try_from(value).ok(),
        _ => None,
    }
}
