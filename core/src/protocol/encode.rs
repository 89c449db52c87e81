//! Writes JSON-RPC replies, straight into bytes.
//!
//! This is the only place that knows how a result differs between the eras: [`ResultWriter`] adds
//! `resultType`, the cache hints and the server's identity for the modern era, and never for the
//! legacy one, whose strict clients refuse them.

use alloc::{boxed::Box, string::String, vec::Vec};

use serde::Serialize;

use super::{era::Era, json_rpc::Id, rpc_error::RpcError};
use crate::{
    Json,
    app::App,
    hidden::{reveal_json, visible},
};

/// How long a modern client may keep a list, in milliseconds: short, so that a changed app is seen
/// within seconds.
const CACHE_TTL_MS: &str = "5000";
const SERVER_INFO: &str = "io.modelcontextprotocol/serverInfo";

/// Who may share a kept result.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum CacheScope {
    /// Everybody: nothing of it depends on the caller.
    Public,
    /// Requests with the same credentials.
    Private,
}

/// The reply to one message or batch, before it is an HTTP response.
pub(super) struct MessageReply {
    pub(super) status: u16,
    pub(super) field: Option<Box<(&'static str, String)>>,
    pub(super) body: Vec<u8>,
}

impl MessageReply {
    pub(super) fn result(body: Vec<u8>) -> Self {
        Self { status: 200, field: None, body }
    }

    pub(super) fn failure(id: Option<&Id>, failure: &RpcError) -> Self {
        Self {
            status: failure.status,
            field: failure.field.clone(),
            body: failure.message_body.clone().unwrap_or_else(|| error(id, failure)),
        }
    }
}

/// A JSON-RPC error object. It may have values of data in it, in which nothing is hidden. Without
/// an id the member is left out, since MCP's schema forbids `null`.
pub(super) fn error(id: Option<&Id>, failure: &RpcError) -> Vec<u8> {
    let mut out = Vec::with_capacity(160 + failure.message.len());
    out.extend_from_slice(br#"{"jsonrpc":"2.0","#);
    if let Some(id) = id {
        out.extend_from_slice(br#""id":"#);
        out.extend_from_slice(id.json().as_bytes());
        out.push(b',');
    }
    out.extend_from_slice(br#""error":{"code":"#);
    json(&mut out, &failure.code);
    out.extend_from_slice(br#","message":"#);
    string(&mut out, &visible(&failure.message));
    if let Some(data) = &failure.data {
        let mut data = (**data).clone();
        reveal_json(&mut data, &[]);
        out.extend_from_slice(br#","data":"#);
        json(&mut out, &data);
    }
    out.extend_from_slice(b"}}");
    out
}

/// Writes a JSON-RPC result, member by member.
pub(super) struct ResultWriter<'a> {
    out: Vec<u8>,
    era: Era,
    server_info: &'a str,
    empty: bool,
}

impl<'a> ResultWriter<'a> {
    /// `server_info` is the object that [`server_info`] made.
    pub(super) fn new(id: &Id, era: Era, server_info: &'a str) -> Self {
        let mut writer = Self::begin(id, era, server_info);
        if era == Era::Modern {
            writer.raw("resultType", "\"complete\"");
        }
        writer
    }

    /// A result that asks for input.
    pub(super) fn question(id: &Id, server_info: &'a str) -> Self {
        let mut writer = Self::begin(id, Era::Modern, server_info);
        writer.raw("resultType", "\"input_required\"");
        writer
    }

    fn begin(id: &Id, era: Era, server_info: &'a str) -> Self {
        let mut out = Vec::with_capacity(512);
        out.extend_from_slice(br#"{"jsonrpc":"2.0","id":"#);
        out.extend_from_slice(id.json().as_bytes());
        out.extend_from_slice(br#","result":{"#);
        Self { out, era, server_info, empty: true }
    }

    /// Makes room for a large member and for what follows it: a list of a megabyte is copied once,
    /// and not moved again for its last bracket.
    pub(super) fn reserve(&mut self, bytes: usize) {
        self.out.reserve(bytes + 512);
    }

    /// A member whose value is JSON text.
    pub(super) fn raw(&mut self, name: &str, text: &str) {
        self.name(name);
        self.out.extend_from_slice(text.as_bytes());
    }

    pub(super) fn text(&mut self, name: &str, value: &str) {
        self.name(name);
        string(&mut self.out, value);
    }

    pub(super) fn member<T: Serialize + ?Sized>(&mut self, name: &str, value: &T) {
        self.name(name);
        json(&mut self.out, value);
    }

    /// A member whose value is written by hand.
    pub(super) fn with(&mut self, name: &str, write: impl FnOnce(&mut Vec<u8>)) {
        self.name(name);
        write(&mut self.out);
    }

    /// The cache hints of the six results that have them.
    pub(super) fn cacheable(&mut self, scope: CacheScope) {
        if self.era == Era::Modern {
            self.raw("ttlMs", CACHE_TTL_MS);
            self.raw("cacheScope", if scope == CacheScope::Private { "\"private\"" } else { "\"public\"" });
        }
    }

    /// The cache hints of what a tool says: it may be something else the next time, and for the
    /// next caller.
    pub(super) fn not_cacheable(&mut self) {
        if self.era == Era::Modern {
            self.raw("ttlMs", "0");
            self.raw("cacheScope", "\"private\"");
        }
    }

    pub(super) fn finish(self) -> Vec<u8> {
        self.finish_with(&[])
    }

    /// Ends the result; `meta` goes into `_meta`.
    pub(super) fn finish_with(mut self, meta: &[(String, Json)]) -> Vec<u8> {
        let modern = self.era == Era::Modern;
        if modern || !meta.is_empty() {
            self.name("_meta");
            self.out.push(b'{');
            if modern {
                string(&mut self.out, SERVER_INFO);
                self.out.push(b':');
                self.out.extend_from_slice(self.server_info.as_bytes());
            }
            for (index, (name, value)) in meta.iter().enumerate() {
                if modern || index > 0 {
                    self.out.push(b',');
                }
                string(&mut self.out, name);
                self.out.push(b':');
                json(&mut self.out, value);
            }
            self.out.push(b'}');
        }
        self.out.extend_from_slice(b"}}");
        self.out
    }

    fn name(&mut self, name: &str) {
        if !self.empty {
            self.out.push(b',');
        }
        self.empty = false;
        string(&mut self.out, name);
        self.out.push(b':');
    }
}

/// How much a client is told of the server itself.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum ServerDetail {
    /// Its name and its version.
    Short,
    /// Its title, too.
    Titled,
    /// Its website and its icons, too.
    Full,
}

impl ServerDetail {
    /// What `initialize` says to a client of a revision: what that has, since clients of the older
    /// ones may be strict.
    pub(super) fn of(revision: &str) -> Self {
        match revision {
            "2025-11-25" => Self::Full,
            "2025-06-18" => Self::Titled,
            _ => Self::Short,
        }
    }
}

/// The server as MCP's `Implementation`: `{"name":…,"version":…}`.
pub(super) fn server_info(app: &App, detail: ServerDetail) -> String {
    let identity = &app.identity;
    let mut out = Vec::new();
    out.extend_from_slice(br#"{"name":"#);
    string(&mut out, &app.name);
    if let Some(title) = identity.title.as_ref().filter(|_| detail >= ServerDetail::Titled) {
        out.extend_from_slice(br#","title":"#);
        string(&mut out, title);
    }
    out.extend_from_slice(br#","version":"#);
    let build = if identity.surface.is_empty() { "" } else { "+" };
    string(&mut out, &[app.version.as_str(), build, &identity.surface].concat());
    if detail == ServerDetail::Full {
        if let Some(website) = &identity.website {
            out.extend_from_slice(br#","websiteUrl":"#);
            string(&mut out, website);
        }
        if !identity.icons.is_empty() {
            out.extend_from_slice(br#","icons":"#);
            out.extend_from_slice(identity.icons.as_bytes());
        }
    }
    out.push(b'}');
    String::from_utf8(out).unwrap_or_default()
}

/// Appends a value as JSON.
///
/// Writing cannot fail: what is written here has text keys and finite numbers. Were it to fail
/// after all, `null` keeps the reply well-formed.
pub(super) fn json<T: Serialize + ?Sized>(out: &mut Vec<u8>, value: &T) {
    match serde_json::to_vec(value) {
        Ok(text) => out.extend_from_slice(&text),
        Err(_) => out.extend_from_slice(b"null"),
    }
}

/// Appends a string as JSON, without a copy in between: most of a reply is text, and `serde_json`
/// has no writer without std.
pub(super) fn string(out: &mut Vec<u8>, text: &str) {
    out.reserve(text.len() + 2);
    out.push(b'"');
    let bytes = text.as_bytes();
    let mut start = 0;
    for (at, byte) in bytes.iter().enumerate() {
        let letter = match byte {
            b'"' | b'\\' => *byte,
            b'\n' => b'n',
            b'\r' => b'r',
            b'\t' => b't',
            0x08 => b'b',
            0x0c => b'f',
            0..0x20 => b'u',
            _ => continue,
        };
        out.extend_from_slice(&bytes[start..at]);
        out.extend_from_slice(&[b'\\', letter]);
        if letter == b'u' {
            out.extend_from_slice(&[b'0', b'0', b'0' + (byte >> 4), b"0123456789abcdef"[usize::from(byte & 15)]]);
        }
        start = at + 1;
    }
    out.extend_from_slice(&bytes[start..]);
    out.push(b'"');
}

#[cfg(test)]
mod tests {
    use alloc::{string::String, vec::Vec};

    use super::string;

    #[test]
    fn writes_strings_as_serde_json_does() {
        let every: String = (0..=0x2100).filter_map(char::from_u32).collect();
        for text in ["", "plain", "\"", "a\\", "\u{1f}x\u{7f}", "tail\n", "\u{10ffff}", every.as_str()] {
            let mut out = Vec::new();
            string(&mut out, text);
            assert_eq!(String::from_utf8(out).unwrap(), serde_json::to_string(text).unwrap());
        }
    }
}
