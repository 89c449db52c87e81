//! The socket between the supervisor and an isolate: single letters, some with files beside them.
//!
//! An isolate says one letter, [`SERVES`], each time that it serves what it was given. The end of
//! the stream is the end of whoever held the other side.

use std::{
    io::{self, IoSlice, IoSliceMut},
    mem::MaybeUninit,
    os::fd::{BorrowedFd, OwnedFd},
};

use rustix::{
    cmsg_space,
    net::{RecvAncillaryBuffer, RecvAncillaryMessage, RecvFlags, SendAncillaryBuffer, SendAncillaryMessage, SendFlags, recvmsg, sendmsg},
};

/// The most files beside a letter.
const FILES: usize = 5;

/// What an isolate says when it serves what it was given.
pub(super) const SERVES: &[u8] = b"s";

/// What an isolate is told.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum ControlMessage {
    /// Start, with the listening socket or the one of lines, the board, the file of the last calls,
    /// the deployment, and the certificate where there is one.
    Start,
    /// Serve another deployment, which is beside.
    Deploy,
    /// Do handshakes with another certificate, which is beside.
    Certificate,
    /// Write what the instruments came to into the pipe that is beside.
    Measure,
    /// End: calls in flight may finish.
    Stop,
}

/// Sends a word.
///
/// # Errors
/// The other side is gone, or takes nothing more.
pub(super) fn send(socket: BorrowedFd<'_>, word: ControlMessage, files: &[BorrowedFd<'_>]) -> io::Result<()> {
    let letter = match word {
        ControlMessage::Start => b'S',
        ControlMessage::Deploy => b'D',
        ControlMessage::Certificate => b'C',
        ControlMessage::Measure => b'M',
        ControlMessage::Stop => b'E',
    };
    let mut space = [MaybeUninit::uninit(); cmsg_space!(ScmRights(FILES))];
    let mut beside = SendAncillaryBuffer::new(&mut space);
    if !files.is_empty() && !beside.push(SendAncillaryMessage::ScmRights(files)) {
        return Err(io::Error::other("too many files for one message"));
    }
    let sent = rustix::io::retry_on_intr(|| sendmsg(socket, &[IoSlice::new(&[letter])], &mut beside, SendFlags::empty()))?;
    if sent == 1 { Ok(()) } else { Err(io::ErrorKind::WriteZero.into()) }
}

/// Waits for a word. `None` at the end of the stream.
///
/// # Errors
/// What came is no word.
pub(super) fn receive(socket: BorrowedFd<'_>) -> io::Result<Option<(ControlMessage, Vec<OwnedFd>)>> {
    let mut space = [MaybeUninit::uninit(); cmsg_space!(ScmRights(FILES))];
    let mut beside = RecvAncillaryBuffer::new(&mut space);
    let mut letter = [0];
    let received = rustix::io::retry_on_intr(|| recvmsg(socket, &mut [IoSliceMut::new(&mut letter)], &mut beside, RecvFlags::empty()))?;
    if received.bytes == 0 {
        return Ok(None);
    }
    let mut files = Vec::new();
    for message in beside.drain() {
        if let RecvAncillaryMessage::ScmRights(rights) = message {
            files.extend(rights);
        }
    }
    let word = match letter {
        [b'S'] => ControlMessage::Start,
        [b'D'] => ControlMessage::Deploy,
        [b'C'] => ControlMessage::Certificate,
        [b'M'] => ControlMessage::Measure,
        [b'E'] => ControlMessage::Stop,
        _ => return Err(io::Error::other("an unknown word")),
    };
    Ok(Some((word, files)))
}

#[cfg(test)]
mod tests {
    use std::{
        fs::File,
        io::{Read as _, Write as _},
        os::{fd::AsFd as _, unix::net::UnixStream},
    };

    use super::*;

    #[test]
    fn words_arrive_one_by_one_with_their_files() {
        let (ours, theirs) = UnixStream::pair().unwrap();
        let (mut reader, writer) = io::pipe().unwrap();
        send(ours.as_fd(), ControlMessage::Start, &[writer.as_fd(), ours.as_fd(), ours.as_fd(), ours.as_fd()]).unwrap();
        send(ours.as_fd(), ControlMessage::Deploy, &[ours.as_fd()]).unwrap();
        send(ours.as_fd(), ControlMessage::Stop, &[]).unwrap();
        let (word, mut files) = receive(theirs.as_fd()).unwrap().unwrap();
        assert_eq!((word, files.len()), (ControlMessage::Start, 4));
        drop(writer);
        File::from(files.remove(0)).write_all(b"through").unwrap();
        drop(files);
        let mut text = String::new();
        reader.read_to_string(&mut text).unwrap();
        assert_eq!(text, "through");
        assert!(matches!(receive(theirs.as_fd()).unwrap().unwrap(), (ControlMessage::Deploy, files) if files.len() == 1));
        assert!(matches!(receive(theirs.as_fd()).unwrap().unwrap(), (ControlMessage::Stop, files) if files.is_empty()));
        drop(ours);
        assert!(receive(theirs.as_fd()).unwrap().is_none());
    }
}
