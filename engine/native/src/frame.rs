//! What crosses the border: text, and bytes behind it.

/// The highest bit of a head's length says that there is a tail.
const HAS_TAIL: u32 = 1 << 31;

/// A message to the engine. The head is JSON.
#[derive(Clone, Copy, Debug)]
pub struct Frame<'a> {
    /// The text.
    pub head: &'a str,
    /// The bytes, where there are any.
    pub tail: Option<&'a [u8]>,
}

impl<'a> Frame<'a> {
    /// A message without bytes.
    #[must_use]
    pub fn text(head: &'a str) -> Self {
        Self { head, tail: None }
    }

    /// How many bytes it takes; `None` for more than cross at a time.
    pub(crate) fn length(&self) -> Option<usize> {
        let length = self.head.len().checked_add(self.tail.map_or(0, <[u8]>::len))?.checked_add(4)?;
        i32::try_from(length).is_ok().then_some(length)
    }

    /// Writes it to a place that is as long as it is.
    pub(crate) fn write(&self, into: &mut [u8]) {
        let word = u32::try_from(self.head.len()).unwrap_or_default() | if self.tail.is_some() { HAS_TAIL } else { 0 };
        let (length, rest) = into.split_at_mut(4);
        length.copy_from_slice(&word.to_le_bytes());
        let (head, tail) = rest.split_at_mut(self.head.len());
        head.copy_from_slice(self.head.as_bytes());
        tail.copy_from_slice(self.tail.unwrap_or_default());
    }
}

/// A message from the engine.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Message {
    /// The text.
    pub head: String,
    /// The bytes, where there are any.
    pub tail: Option<Vec<u8>>,
}

impl Message {
    /// Reads one; `None` of what is none.
    pub(crate) fn read(frame: &[u8]) -> Option<Self> {
        let (word, rest) = frame.split_first_chunk()?;
        let word = u32::from_le_bytes(*word);
        let (head, tail) = rest.split_at_checked((word & !HAS_TAIL) as usize)?;
        let head = String::from_utf8_lossy(head).into_owned();
        Some(Self { head, tail: (word & HAS_TAIL != 0).then(|| tail.to_vec()) })
    }

    /// The same as a message to the engine.
    pub(crate) fn frame(&self) -> Frame<'_> {
        Frame { head: &self.head, tail: self.tail.as_deref() }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_written_is_read() {
        for (head, tail) in [("", None), ("é", None), ("{}", Some(&b""[..])), ("[1]", Some(b"\0\xff"))] {
            let frame = Frame { head, tail };
            let mut bytes = vec![0; frame.length().unwrap()];
            frame.write(&mut bytes);
            let read = Message::read(&bytes).unwrap();
            assert_eq!((read.head.as_str(), read.tail.as_deref()), (head, tail));
        }
        for broken in [&b""[..], &[0, 0, 0], &[1, 0, 0, 0], &[0xff, 0xff, 0xff, 0xff, 1]] {
            assert_eq!(Message::read(broken), None);
        }
    }
}
