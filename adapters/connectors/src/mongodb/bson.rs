//! [BSON](https://bsonspec.org/spec.html), the form of MongoDB's documents: values out, values in.
//! What comes in is anybody's: its depth and the number of its values are limited.

/// How deep a document of the server may be. MongoDB stores up to 100 levels.
const MAX_DEPTH: usize = 200;

/// The members of a document, in order.
pub(super) type Members = Vec<(String, Bson)>;

/// A value.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Bson {
    Double(f64),
    Text(String),
    Document(Members),
    Array(Vec<Self>),
    Binary(u8, Vec<u8>),
    ObjectId([u8; 12]),
    Bool(bool),
    /// Milliseconds since the Unix epoch.
    Date(i64),
    Null,
    /// A pattern and its options.
    Regex(String, String),
    /// Code of JavaScript.
    Code(String),
    Int32(i32),
    /// Seconds since the Unix epoch, and a count within the second.
    Timestamp(u32, u32),
    Int64(i64),
    /// In little-endian order.
    Decimal([u8; 16]),
    MinKey,
    MaxKey,
}

/// Why bytes are no document.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum DecodeError {
    /// They are none.
    Invalid(&'static str),
    /// It has more values than there is room for.
    TooMany,
}

/// Appends a document.
///
/// # Errors
/// A key or a pattern has a NUL character, or a part is longer than a document may be.
pub(super) fn encode(members: &[(String, Bson)], out: &mut Vec<u8>) -> Result<(), &'static str> {
    encode_all(members.iter().map(|(key, value)| (key.as_str(), value)), out)
}

fn encode_all<'a>(members: impl Iterator<Item = (&'a str, &'a Bson)>, out: &mut Vec<u8>) -> Result<(), &'static str> {
    let start = out.len();
    out.extend_from_slice(&[0; 4]);
    for (key, value) in members {
        let kind = out.len();
        out.push(0);
        cstring(key, out)?;
        out[kind] = encode_value(value, out)?;
    }
    out.push(0);
    let length = i32::try_from(out.len() - start).map_err(|_| "a document is too long")?;
    out[start..start + 4].copy_from_slice(&length.to_le_bytes());
    Ok(())
}

/// Appends a value; the byte of its type.
fn encode_value(value: &Bson, out: &mut Vec<u8>) -> Result<u8, &'static str> {
    Ok(match value {
        Bson::Double(number) => {
            out.extend_from_slice(&number.to_le_bytes());
            0x01
        }
        Bson::Text(text) => {
            string(text, out)?;
            0x02
        }
        Bson::Document(members) => {
            encode(members, out)?;
            0x03
        }
        Bson::Array(elements) => {
            let keys: Vec<String> = (0..elements.len()).map(|place| place.to_string()).collect();
            encode_all(keys.iter().map(String::as_str).zip(elements), out)?;
            0x04
        }
        Bson::Binary(kind, bytes) => {
            out.extend_from_slice(&i32::try_from(bytes.len()).map_err(|_| "bytes are too long")?.to_le_bytes());
            out.push(*kind);
            out.extend_from_slice(bytes);
            0x05
        }
        Bson::ObjectId(id) => {
            out.extend_from_slice(id);
            0x07
        }
        Bson::Bool(truth) => {
            out.push(u8::from(*truth));
            0x08
        }
        Bson::Date(ms) => {
            out.extend_from_slice(&ms.to_le_bytes());
            0x09
        }
        Bson::Null => 0x0a,
        Bson::Regex(pattern, options) => {
            cstring(pattern, out)?;
            cstring(options, out)?;
            0x0b
        }
        Bson::Code(text) => {
            string(text, out)?;
            0x0d
        }
        Bson::Int32(number) => {
            out.extend_from_slice(&number.to_le_bytes());
            0x10
        }
        Bson::Timestamp(seconds, count) => {
            out.extend_from_slice(&count.to_le_bytes());
            out.extend_from_slice(&seconds.to_le_bytes());
            0x11
        }
        Bson::Int64(number) => {
            out.extend_from_slice(&number.to_le_bytes());
            0x12
        }
        Bson::Decimal(bytes) => {
            out.extend_from_slice(bytes);
            0x13
        }
        Bson::MinKey => 0xff,
        Bson::MaxKey => 0x7f,
    })
}

fn cstring(text: &str, out: &mut Vec<u8>) -> Result<(), &'static str> {
    if text.contains('\0') {
        return Err("a key or a pattern has a NUL character");
    }
    out.extend_from_slice(text.as_bytes());
    out.push(0);
    Ok(())
}

fn string(text: &str, out: &mut Vec<u8>) -> Result<(), &'static str> {
    out.extend_from_slice(&i32::try_from(text.len() + 1).map_err(|_| "a text is too long")?.to_le_bytes());
    out.extend_from_slice(text.as_bytes());
    out.push(0);
    Ok(())
}

/// Reads a document that fills the bytes; `room` is how many values there may be, from which its
/// own are taken.
///
/// # Errors
/// See [`DecodeError`].
pub(super) fn decode(bytes: &[u8], room: &mut usize) -> Result<Members, DecodeError> {
    let mut reader = Reader { bytes, room: *room };
    let members = reader.members(0)?;
    *room = reader.room;
    if reader.bytes.is_empty() { Ok(members) } else { Err(DecodeError::Invalid("a document is shorter than its message")) }
}

struct Reader<'a> {
    bytes: &'a [u8],
    room: usize,
}

impl<'a> Reader<'a> {
    fn take(&mut self, count: usize) -> Result<&'a [u8], DecodeError> {
        let (taken, rest) = self.bytes.split_at_checked(count).ok_or(DecodeError::Invalid("a document ends within a value"))?;
        self.bytes = rest;
        Ok(taken)
    }

    fn array<const N: usize>(&mut self) -> Result<[u8; N], DecodeError> {
        self.take(N)?.try_into().map_err(|_| DecodeError::Invalid("a document ends within a value"))
    }

    fn i32(&mut self) -> Result<i32, DecodeError> {
        self.array().map(i32::from_le_bytes)
    }

    fn length(&mut self) -> Result<usize, DecodeError> {
        usize::try_from(self.i32()?).map_err(|_| DecodeError::Invalid("a length is negative"))
    }

    fn cstring(&mut self) -> Result<String, DecodeError> {
        let end = self.bytes.iter().position(|byte| *byte == 0).ok_or(DecodeError::Invalid("a name has no end"))?;
        let text = utf8(self.take(end)?)?;
        self.take(1)?;
        Ok(text)
    }

    fn string(&mut self) -> Result<String, DecodeError> {
        let length = self.length()?;
        match self.take(length)?.split_last() {
            Some((0, text)) => utf8(text),
            _ => Err(DecodeError::Invalid("a text has no end")),
        }
    }

    fn members(&mut self, depth: usize) -> Result<Members, DecodeError> {
        let mut members = Vec::new();
        self.each(depth, &mut |key, value| members.push((key, value)))?;
        Ok(members)
    }

    fn each(&mut self, depth: usize, add: &mut dyn FnMut(String, Bson)) -> Result<(), DecodeError> {
        if depth > MAX_DEPTH {
            return Err(DecodeError::Invalid("a document is too deep"));
        }
        let whole = self.bytes;
        let length = self.length()?;
        let own = whole.get(4..length).ok_or(DecodeError::Invalid("a document has a wrong length"))?;
        let mut inside = Reader { bytes: own, room: self.room };
        loop {
            let [kind] = inside.array()?;
            if kind == 0 {
                break;
            }
            inside.room = inside.room.checked_sub(1).ok_or(DecodeError::TooMany)?;
            let key = inside.cstring()?;
            let value = inside.value(kind, depth)?;
            add(key, value);
        }
        if !inside.bytes.is_empty() {
            return Err(DecodeError::Invalid("a document has a wrong length"));
        }
        (self.room, self.bytes) = (inside.room, &whole[length..]);
        Ok(())
    }

    fn value(&mut self, kind: u8, depth: usize) -> Result<Bson, DecodeError> {
        Ok(match kind {
            0x01 => Bson::Double(f64::from_le_bytes(self.array()?)),
            0x02 | 0x0e => Bson::Text(self.string()?),
            0x03 => Bson::Document(self.members(depth + 1)?),
            0x04 => {
                let mut elements = Vec::new();
                self.each(depth + 1, &mut |_, value| elements.push(value))?;
                Bson::Array(elements)
            }
            0x05 => {
                let length = self.length()?;
                let [kind] = self.array()?;
                let bytes = self.take(length)?;
                // The old form has its length twice.
                match (kind, bytes.split_first_chunk::<4>()) {
                    (2, Some((inner, rest))) if usize::try_from(i32::from_le_bytes(*inner)) == Ok(rest.len()) => {
                        Bson::Binary(kind, rest.to_vec())
                    }
                    _ => Bson::Binary(kind, bytes.to_vec()),
                }
            }
            0x06 | 0x0a => Bson::Null,
            0x07 => Bson::ObjectId(self.array()?),
            0x08 => match self.array()? {
                [0] => Bson::Bool(false),
                [1] => Bson::Bool(true),
                _ => return Err(DecodeError::Invalid("a truth value is neither")),
            },
            0x09 => Bson::Date(i64::from_le_bytes(self.array()?)),
            0x0b => Bson::Regex(self.cstring()?, self.cstring()?),
            0x0c => {
                self.string()?;
                Bson::ObjectId(self.array()?)
            }
            0x0d => Bson::Code(self.string()?),
            0x0f => {
                self.length()?;
                let code = self.string()?;
                self.members(depth + 1)?;
                Bson::Code(code)
            }
            0x10 => Bson::Int32(self.i32()?),
            0x11 => {
                let count = u32::from_le_bytes(self.array()?);
                Bson::Timestamp(u32::from_le_bytes(self.array()?), count)
            }
            0x12 => Bson::Int64(i64::from_le_bytes(self.array()?)),
            0x13 => Bson::Decimal(self.array()?),
            0xff => Bson::MinKey,
            0x7f => Bson::MaxKey,
            _ => return Err(DecodeError::Invalid("a value has an unknown type")),
        })
    }
}

fn utf8(bytes: &[u8]) -> Result<String, DecodeError> {
    std::str::from_utf8(bytes).map(str::to_owned).map_err(|_| DecodeError::Invalid("a text is not UTF-8"))
}

/// The value of a member.
pub(super) fn find<'a>(members: &'a [(String, Bson)], key: &str) -> Option<&'a Bson> {
    members.iter().find(|(known, _)| known == key).map(|(_, value)| value)
}

impl Bson {
    /// A whole number, whatever its type.
    pub(super) fn integer(&self) -> Option<i64> {
        match self {
            Self::Int32(number) => Some((*number).into()),
            Self::Int64(number) => Some(*number),
            #[allow(clippy::cast_possible_truncation, reason = "its fraction and its size were looked at")]
            Self::Double(number) if number.fract() == 0.0 && number.abs() < 9.0e15 => Some(*number as i64),
            _ => None,
        }
    }

    pub(super) fn text(&self) -> Option<&str> {
        if let Self::Text(text) = self { Some(text) } else { None }
    }

    pub(super) fn document(&self) -> Option<&[(String, Self)]> {
        if let Self::Document(members) = self { Some(members) } else { None }
    }

    pub(super) fn elements(&self) -> &[Self] {
        if let Self::Array(elements) = self { elements } else { &[] }
    }

    /// Whether it says yes: commands answer with `1`, `1.0` or `true`.
    pub(super) fn is_true(&self) -> bool {
        *self == Self::Bool(true) || self.integer().is_some_and(|number| number != 0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn every() -> Members {
        let values = [
            Bson::Double(-0.0),
            Bson::Text("a\0ß".into()),
            Bson::Document(vec![("a".into(), Bson::Null)]),
            Bson::Array(vec![Bson::Int32(1), Bson::Array(vec![])]),
            Bson::Binary(4, vec![0, 255]),
            Bson::ObjectId([7; 12]),
            Bson::Bool(true),
            Bson::Date(i64::MIN),
            Bson::Null,
            Bson::Regex("^a".into(), "i".into()),
            Bson::Code("1".into()),
            Bson::Int32(i32::MIN),
            Bson::Timestamp(u32::MAX, 1),
            Bson::Int64(i64::MAX),
            Bson::Decimal([9; 16]),
            Bson::MinKey,
            Bson::MaxKey,
        ];
        values.into_iter().enumerate().map(|(place, value)| (format!("k{place}"), value)).collect()
    }

    #[test]
    fn every_value_comes_back() {
        let mut bytes = Vec::new();
        encode(&every(), &mut bytes).unwrap();
        assert_eq!(decode(&bytes, &mut 100).unwrap(), every());
        // `{"hello": "world"}` and `{"BSON": ["awesome", 5.05, 1986]}` of the specification.
        let hello = b"\x16\0\0\0\x02hello\0\x06\0\0\0world\0\0";
        assert_eq!(decode(hello, &mut 1).unwrap(), [("hello".to_owned(), Bson::Text("world".into()))]);
        let awesome =
            b"\x31\0\0\0\x04BSON\0\x26\0\0\0\x020\0\x08\0\0\0awesome\0\x011\0\x33\x33\x33\x33\x33\x33\x14\x40\x102\0\xc2\x07\0\0\0\0";
        let members = vec![("BSON".to_owned(), Bson::Array(vec![Bson::Text("awesome".into()), Bson::Double(5.05), Bson::Int32(1986)]))];
        let mut encoded = Vec::new();
        encode(&members, &mut encoded).unwrap();
        assert_eq!((encoded.as_slice(), decode(awesome, &mut 4).unwrap()), (&awesome[..], members));
    }

    #[test]
    fn what_is_no_document_is_refused() {
        let mut bytes = Vec::new();
        encode(&every(), &mut bytes).unwrap();
        for end in 0..bytes.len() {
            assert!(decode(&bytes[..end], &mut 100).is_err(), "{end}");
        }
        // No byte that is changed lets it fail in another way.
        for place in 0..bytes.len() {
            for change in [0, 1, 0x7f, 0xff] {
                let mut changed = bytes.clone();
                changed[place] = change;
                drop(decode(&changed, &mut 100));
            }
        }
        assert_eq!(decode(&bytes, &mut 5), Err(DecodeError::TooMany));
        // What one document takes is not there for the next.
        let mut room = 25;
        assert!(decode(&bytes, &mut room).is_ok());
        assert_eq!((room, decode(&bytes, &mut room)), (5, Err(DecodeError::TooMany)));
        let mut deep = Bson::Null;
        for _ in 0..300 {
            deep = Bson::Array(vec![deep]);
        }
        let mut bytes = Vec::new();
        encode(&[("a".into(), deep)], &mut bytes).unwrap();
        assert_eq!(decode(&bytes, &mut 1000), Err(DecodeError::Invalid("a document is too deep")));
        assert!(encode(&[("a\0".into(), Bson::Null)], &mut Vec::new()).is_err());
    }
}
