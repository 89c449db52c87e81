//! Answers as event streams: the response among the messages of a stream, read piece by piece.

use millrace_core::Json;

/// Reads a stream of [server-sent
/// events](https://html.spec.whatwg.org/multipage/server-sent-events.html) up to the first
/// response.
#[derive(Default)]
pub(super) struct EventReader {
    line: Vec<u8>,
    data: Vec<u8>,
    has_data: bool,
    /// The response, once it has come.
    pub(super) response: Option<Json>,
    /// Whether an event had data that is not JSON.
    pub(super) is_broken: bool,
    /// How many requests of the server's came before.
    pub(super) requests: usize,
}

impl EventReader {
    /// Takes a piece of the stream. Its length is the caller's to limit.
    pub(super) fn push(&mut self, piece: &[u8]) {
        for byte in piece {
            if self.response.is_some() {
                return;
            }
            match byte {
                b'\n' => self.end_of_line(),
                b'\r' => {}
                byte => self.line.push(*byte),
            }
        }
    }

    fn end_of_line(&mut self) {
        let line = std::mem::take(&mut self.line);
        if line.is_empty() {
            return self.end_of_event();
        }
        if let Some(data) = line.strip_prefix(b"data:") {
            if self.has_data {
                self.data.push(b'\n');
            }
            self.data.extend_from_slice(data.strip_prefix(b" ").unwrap_or(data));
            self.has_data = true;
        }
    }

    fn end_of_event(&mut self) {
        let data = std::mem::take(&mut self.data);
        // An event without data only carries an id.
        if !std::mem::take(&mut self.has_data) || data.is_empty() {
            return;
        }
        match serde_json::from_slice::<Json>(&data) {
            Ok(message) if message.get("method").is_some() => self.requests += usize::from(message.get("id").is_some()),
            Ok(message) => self.response = Some(message),
            Err(_) => self.is_broken = true,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(pieces: &[&str]) -> EventReader {
        let mut reader = EventReader::default();
        pieces.iter().for_each(|piece| reader.push(piece.as_bytes()));
        reader
    }

    #[test]
    fn the_response_is_found_among_notifications() {
        let reader = read(&[
            ": hello\n\nid: 1\ndata:\n\n",
            "event: message\r\ndata: {\"jsonrpc\":\"2.0\",\"method\":\"notifications/message\"}\r\n\r\n",
            "data: {\"jsonrpc\":\"2.0\",\ndata: \"id\":7,\"result\":{}}\n",
            "\ndata: {\"id\":8}\n\n",
        ]);
        assert_eq!(reader.response.unwrap()["id"], 7);
    }

    #[test]
    fn a_stream_that_is_cut_off_has_no_response() {
        let reader = read(&["data: {\"jsonrpc\":\"2.0\",\"id\":7,\"result\":{}}\n"]);
        assert!(reader.response.is_none() && !reader.is_broken);
        let reader = read(&["data: {\"jsonrpc\":\n\n"]);
        assert!(reader.response.is_none() && reader.is_broken);
    }
}
