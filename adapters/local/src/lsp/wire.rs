//! Messages on standard input and output. The reader of `lsp-server` takes a message of any length;
//! this one has limits, and goes on after a message that is no JSON.

use std::io::{self, BufRead, Read as _};

use lsp_server::Message;
use serde_json::Value as Json;

/// The longest message, in bytes.
const LONGEST: usize = 64 << 20;

/// The longest header of a message, in bytes.
const LONGEST_HEADER: u64 = 8 << 10;

/// What was read.
pub(super) enum Incoming {
    /// A message.
    Message(Message),
    /// Something that is none, and what is wrong with it.
    Broken(String),
    /// There is no more.
    End,
}

/// Reads the next message.
///
/// # Errors
/// Nothing can be read any more, or it is not known where the next message begins.
pub(super) fn read(input: &mut impl BufRead) -> io::Result<Incoming> {
    let Some(length) = length(input)? else { return Ok(Incoming::End) };
    if length > LONGEST {
        // Where the next one begins is known all the same.
        let skipped = io::copy(&mut input.take(length as u64), &mut io::sink())?;
        return if skipped < length as u64 {
            Ok(Incoming::End)
        } else {
            Ok(Incoming::Broken(format!("a message has more than {} MB", LONGEST >> 20)))
        };
    }
    let mut text = Vec::new();
    if input.take(length as u64).read_to_end(&mut text)? < length {
        return Ok(Incoming::End);
    }
    Ok(match serde_json::from_slice::<Json>(&text) {
        Ok(value) => message(value),
        Err(error) => Incoming::Broken(format!("a message is not JSON: {error}")),
    })
}

fn message(value: Json) -> Incoming {
    match serde_json::from_value(value) {
        Ok(message) => Incoming::Message(message),
        Err(_) => Incoming::Broken("a message is neither a request nor an answer nor a notification".to_owned()),
    }
}

/// The length of the next message; `None` where there is none.
fn length(input: &mut impl BufRead) -> io::Result<Option<usize>> {
    let mut length = None;
    loop {
        let mut line = Vec::new();
        input.by_ref().take(LONGEST_HEADER).read_until(b'\n', &mut line)?;
        if line.is_empty() {
            return Ok(None);
        }
        let line = String::from_utf8_lossy(&line);
        let Some(line) = line.strip_suffix('\n') else { return Err(io::Error::other("a header does not end")) };
        let line = line.trim_end();
        if line.is_empty() {
            return match length {
                Some(length) => Ok(Some(length)),
                None => Err(io::Error::other("a message has no `Content-Length`")),
            };
        }
        if let Some((name, value)) = line.split_once(':')
            && name.trim().eq_ignore_ascii_case("content-length")
        {
            length = Some(value.trim().parse().map_err(|_| io::Error::other("`Content-Length` is not a number"))?);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shown(input: &str) -> Vec<String> {
        let mut input = input.as_bytes();
        let mut all = Vec::new();
        loop {
            match read(&mut input) {
                Ok(Incoming::Message(Message::Request(request))) => all.push(format!("request {}", request.method)),
                Ok(Incoming::Message(Message::Notification(notification))) => all.push(format!("notification {}", notification.method)),
                Ok(Incoming::Message(Message::Response(response))) => all.push(format!("response {}", response.id)),
                Ok(Incoming::Broken(why)) => all.push(why),
                Ok(Incoming::End) => return all,
                Err(error) => {
                    all.push(error.to_string());
                    return all;
                }
            }
        }
    }

    fn framed(text: &str) -> String {
        format!("Content-Length: {}\r\n\r\n{text}", text.len())
    }

    #[test]
    fn goes_on_after_what_is_no_message() {
        let good = framed(r#"{"jsonrpc":"2.0","id":1,"method":"a"}"#);
        let told = shown(&format!("{good}{}{}{good}", framed("{"), framed("[1]")));
        assert_eq!(told.len(), 4, "{told:?}");
        assert!(told[1].starts_with("a message is not JSON") && told[2].contains("neither"), "{told:?}");
        let skipped = shown(&format!("Content-Length: {}\r\n\r\n{}{good}", LONGEST + 1, " ".repeat(LONGEST + 1)));
        assert_eq!(skipped, ["a message has more than 64 MB", "request a"]);
    }

    #[test]
    fn ends_where_the_next_message_is_not_known() {
        assert_eq!(shown(""), Vec::<String>::new());
        assert_eq!(shown("Content-Length: 10\r\n\r\n{}"), Vec::<String>::new());
        assert_eq!(shown("Content-Length: x\r\n\r\n{}"), ["`Content-Length` is not a number"]);
        assert_eq!(shown("X: 1\r\n\r\n{}"), ["a message has no `Content-Length`"]);
        assert_eq!(shown("Content-Length: 99999999999999999999\r\n\r\n"), ["`Content-Length` is not a number"]);
        assert_eq!(shown("Content-Length: 999999999999\r\n\r\n{}"), Vec::<String>::new());
        assert_eq!(shown(&"x".repeat(10_000)), ["a header does not end"]);
    }
}
