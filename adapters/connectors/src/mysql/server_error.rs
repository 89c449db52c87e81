//! An error in a packet of the protocol.

use super::packet::Reader;
use crate::{
    mysql_text::{self, ServerError},
    shared::{ReadOnly, StatementFailure},
};

/// Reads a packet. What is broken of it is left out.
fn read(packet: &[u8]) -> ServerError {
    let mut reader = Reader(packet);
    reader.byte();
    let number = reader.u16().unwrap_or_default();
    // Before the client has said what it knows, there is no SQLSTATE.
    let state = match reader.0 {
        [b'#', state @ ..] => {
            reader = Reader(state);
            reader.bytes(5).unwrap_or_default()
        }
        _ => &[],
    };
    let [state, words] = [state, reader.0].map(|text| String::from_utf8_lossy(text).into_owned());
    ServerError { number, state, words }
}

/// An error during a login.
pub(super) fn of_login(packet: &[u8], place: &str) -> StatementFailure {
    mysql_text::of_login(&read(packet), place)
}

/// An error of a statement.
pub(super) fn of_statement(packet: &[u8], read_only: ReadOnly) -> StatementFailure {
    mysql_text::of_statement(&read(packet), read_only)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn packets_are_read_as_far_as_they_go() {
        for (packet, number, state, words) in [
            (&b"\xff\x28\x04#42000You have"[..], 1064, "42000", "You have"),
            (b"\xff\x10\x04Too many", 1040, "", "Too many"),
            (b"\xff\x28\x04#420", 1064, "", "420"),
            (b"\xff", 0, "", ""),
        ] {
            let found = read(packet);
            assert_eq!((found.number, found.state.as_str(), found.words.as_str()), (number, state, words), "{packet:?}");
        }
    }
}
