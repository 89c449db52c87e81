//! A cell of the binary protocol and its column → a value.
//!
//! | type | value |
//! |---|---|
//! | `TINYINT` … `BIGINT`, `YEAR`, `BIT` | `I64`; `U64` beyond it |
//! | `FLOAT`, `DOUBLE` | `F64` |
//! | `DECIMAL` | `Decimal`: its digits |
//! | `DATETIME` | `Timestamp`: `2026-01-02T03:04:05.123456` |
//! | `TIMESTAMP` | `Timestamp`: `2026-01-02T03:04:05.123456Z`; the session's time zone is UTC |
//! | `DATE`, `TIME` | `Timestamp`, as MySQL writes it |
//! | `JSON` | `Json`; a number in it that a double does not keep is text |
//! | `BINARY`, `VARBINARY`, `BLOB`, `GEOMETRY`, `VECTOR` | `Bytes` |
//! | every other | `Text` |
//!
//! A date that is none, `0000-00-00` or one without a day, stays as MySQL writes it.
//!
//! <https://dev.mysql.com/doc/dev/mysql-server/latest/page_protocol_binary_resultset.html>

#[cfg(feature = "describe")]
use millrace_core::ports::ColumnKind;
use millrace_core::value::Value;

use super::packet::Reader;
use crate::mysql_text::cell::{bits, json, moment, text, unsigned};

/// A result's column.
#[derive(Debug, PartialEq)]
pub(super) struct Column {
    pub(super) name: String,
    /// It is a table's own, as it is there.
    #[cfg(feature = "describe")]
    pub(super) is_of_table: bool,
    kind: Kind,
}

/// How a cell is written, and what is made of it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind {
    Null,
    /// So many bytes.
    Integer(usize, Sign),
    Bits,
    Float,
    Double,
    Decimal,
    Date,
    /// With so many digits of a second's fraction.
    DateTime(u8, Zone),
    Time(u8),
    Json,
    Text,
    Bytes,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Sign {
    Signed,
    Unsigned,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Zone {
    None,
    Utc,
}

/// The character set of bytes.
const BINARY: u16 = 63;
const UNSIGNED: u16 = 1 << 5;
/// The name of a format of MariaDB.
const FORMAT: u8 = 1;

impl Column {
    /// Reads a column's definition. `None`: it is broken, or its type is not known.
    pub(super) fn of(packet: &[u8], has_extended_types: bool) -> Option<Self> {
        let mut reader = Reader(packet);
        // Catalogue, schema and table.
        for _ in 0..3 {
            reader.counted()?;
        }
        // The table's own name.
        let _table = reader.counted()?;
        let name = String::from_utf8_lossy(reader.counted()?).into_owned();
        reader.counted()?;
        let mut is_json = false;
        if has_extended_types {
            let mut more = Reader(reader.counted()?);
            while let Some(what) = more.byte() {
                is_json |= more.counted()? == b"json" && what == FORMAT;
            }
        }
        reader.number()?;
        let charset = reader.u16()?;
        reader.u32()?;
        let kind = reader.byte()?;
        let flags = reader.u16()?;
        let decimals = reader.byte()?;
        Some(Self {
            name,
            #[cfg(feature = "describe")]
            is_of_table: !_table.is_empty(),
            kind: Kind::of(kind, charset, flags, decimals, is_json)?,
        })
    }

    /// The name of its type, and what its cells are.
    #[cfg(feature = "describe")]
    pub(super) const fn description(&self) -> (&'static str, ColumnKind) {
        match self.kind {
            Kind::Null => ("null", ColumnKind::Any),
            Kind::Integer(1, Sign::Signed) => ("tinyint", ColumnKind::Integer),
            Kind::Integer(1, Sign::Unsigned) => ("tinyint unsigned", ColumnKind::Integer),
            Kind::Integer(2, Sign::Signed) => ("smallint", ColumnKind::Integer),
            Kind::Integer(2, Sign::Unsigned) => ("smallint unsigned", ColumnKind::Integer),
            Kind::Integer(4, Sign::Signed) => ("int", ColumnKind::Integer),
            Kind::Integer(4, Sign::Unsigned) => ("int unsigned", ColumnKind::Integer),
            Kind::Integer(_, Sign::Signed) => ("bigint", ColumnKind::BigInteger),
            Kind::Integer(_, Sign::Unsigned) => ("bigint unsigned", ColumnKind::BigInteger),
            Kind::Bits => ("bit", ColumnKind::BigInteger),
            Kind::Float => ("float", ColumnKind::Float),
            Kind::Double => ("double", ColumnKind::Float),
            Kind::Decimal => ("decimal", ColumnKind::Text),
            Kind::Date => ("date", ColumnKind::Text),
            Kind::DateTime(_, Zone::None) => ("datetime", ColumnKind::Text),
            Kind::DateTime(_, Zone::Utc) => ("timestamp", ColumnKind::Text),
            Kind::Time(_) => ("time", ColumnKind::Text),
            Kind::Json => ("json", ColumnKind::Any),
            Kind::Text => ("text", ColumnKind::Text),
            Kind::Bytes => ("binary", ColumnKind::Text),
        }
    }
}

impl Kind {
    /// The numbers are those of `field_types.h`, which never change.
    fn of(kind: u8, charset: u16, flags: u16, decimals: u8, is_json: bool) -> Option<Self> {
        let integer = |bytes: usize| Self::Integer(bytes, if flags & UNSIGNED == 0 { Sign::Signed } else { Sign::Unsigned });
        // An expression may have any number of digits: 31.
        let digits = decimals.min(6);
        Some(match kind {
            1 => integer(1),
            2 => integer(2),
            13 => Self::Integer(2, Sign::Unsigned),
            3 | 9 => integer(4),
            8 => integer(8),
            4 => Self::Float,
            5 => Self::Double,
            6 => Self::Null,
            0 | 246 => Self::Decimal,
            7 => Self::DateTime(digits, Zone::Utc),
            12 => Self::DateTime(digits, Zone::None),
            10 | 14 => Self::Date,
            11 => Self::Time(digits),
            16 => Self::Bits,
            245 => Self::Json,
            242 | 255 => Self::Bytes,
            15 | 247..=254 if is_json => Self::Json,
            15 | 247..=254 if charset == BINARY => Self::Bytes,
            15 | 247..=254 => Self::Text,
            _ => return None,
        })
    }
}

/// The cells of a row. `None`: it is broken.
pub(super) fn row(packet: &[u8], columns: &[Column]) -> Option<Vec<Value>> {
    let mut reader = Reader(packet);
    reader.bytes(1)?;
    // The first two bits are not used.
    let nulls = reader.bytes((columns.len() + 9) / 8)?;
    let mut cells = Vec::with_capacity(columns.len());
    for (number, column) in columns.iter().enumerate() {
        let bit = number + 2;
        let is_null = nulls.get(bit / 8)? & (1 << (bit % 8)) != 0;
        cells.push(if is_null { Value::Null } else { value(column.kind, &mut reader)? });
    }
    reader.0.is_empty().then_some(cells)
}

fn value(kind: Kind, reader: &mut Reader<'_>) -> Option<Value> {
    Some(match kind {
        Kind::Null => Value::Null,
        Kind::Integer(size, sign) => integer(reader.bytes(size)?, sign),
        Kind::Bits => bits(reader.counted()?)?,
        // The shortest digits that give the same number: 0.1, and not 0.10000000149.
        Kind::Float => Value::F64(f32::from_le_bytes(reader.array()?).to_string().parse().ok()?),
        Kind::Double => Value::F64(f64::from_le_bytes(reader.array()?)),
        Kind::Decimal => Value::Decimal(String::from_utf8(reader.counted()?.to_vec()).ok()?),
        Kind::Date => date_time(reader.counted()?, 0).map(|(date, ..)| Value::Timestamp(date))?,
        Kind::DateTime(digits, zone) => {
            let (date, time, is_date) = date_time(reader.counted()?, digits)?;
            moment(&date, &time, is_date, zone == Zone::Utc)
        }
        Kind::Time(digits) => Value::Timestamp(time(reader.counted()?, digits)?),
        Kind::Json => json(reader.counted()?),
        Kind::Text => text(reader.counted()?),
        Kind::Bytes => Value::Bytes(reader.counted()?.to_vec()),
    })
}

/// Little endian, of at most eight bytes.
fn integer(bytes: &[u8], sign: Sign) -> Value {
    let number = bytes.iter().rev().fold(0_u64, |number, byte| number << 8 | u64::from(*byte));
    match sign {
        Sign::Unsigned => unsigned(number),
        Sign::Signed => {
            let unused = 64 - 8 * bytes.len() as u32;
            Value::I64((number << unused) as i64 >> unused)
        }
    }
}

/// Date, time, and whether it is one of the calendar.
fn date_time(bytes: &[u8], digits: u8) -> Option<(String, String, bool)> {
    let mut reader = Reader(bytes);
    let (mut year, mut month, mut day, mut time) = (0, 0, 0, [0; 3]);
    if !bytes.is_empty() {
        (year, month, day) = (reader.u16()?, reader.byte()?, reader.byte()?);
    }
    if bytes.len() > 4 {
        time = reader.array()?;
    }
    let micros = if bytes.len() > 7 { reader.u32()? } else { 0 };
    let [hour, minute, second] = time;
    let time = format!("{hour:02}:{minute:02}:{second:02}{}", fraction(micros, digits));
    reader.0.is_empty().then(|| (format!("{year:04}-{month:02}-{day:02}"), time, month > 0 && day > 0))
}

/// `-838:59:59.000000`
fn time(bytes: &[u8], digits: u8) -> Option<String> {
    let mut reader = Reader(bytes);
    let (mut sign, mut days, mut time) = (0, 0, [0; 3]);
    if !bytes.is_empty() {
        (sign, days) = (reader.byte()?, reader.u32()?);
        time = reader.array()?;
    }
    let micros = if bytes.len() > 8 { reader.u32()? } else { 0 };
    let [hour, minute, second] = time;
    let hours = u64::from(days) * 24 + u64::from(hour);
    let sign = if sign == 0 { "" } else { "-" };
    reader.0.is_empty().then(|| format!("{sign}{hours:02}:{minute:02}:{second:02}{}", fraction(micros, digits)))
}

/// `.123456`, with as many digits as the column has.
fn fraction(micros: u32, digits: u8) -> String {
    if digits == 0 && micros == 0 {
        return String::new();
    }
    // What a column could not have is shown all the same.
    let shown = (1..=6).find(|shown| micros.is_multiple_of(10_u32.pow(6 - shown))).unwrap_or(6).max(digits.into());
    format!(".{:0width$}", micros / 10_u32.pow(6 - shown), width = shown as usize)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::{super::packet::put_counted, *};

    fn definition(kind: u8, charset: u16, flags: u16, decimals: u8, more: Option<&[u8]>) -> Vec<u8> {
        let mut packet = Vec::new();
        for text in ["def", "shop", "t", "t", "v", "v"] {
            put_counted(&mut packet, text.as_bytes());
        }
        if let Some(more) = more {
            put_counted(&mut packet, more);
        }
        packet.push(12);
        packet.extend(charset.to_le_bytes());
        packet.extend(7_u32.to_le_bytes());
        packet.push(kind);
        packet.extend(flags.to_le_bytes());
        packet.extend([decimals, 0, 0]);
        packet
    }

    fn one(kind: (u8, u16, u16, u8), cell: &[u8]) -> Option<Value> {
        let column = Column::of(&definition(kind.0, kind.1, kind.2, kind.3, None), false)?;
        assert_eq!(column.name, "v");
        let packet = [&[0, 0][..], cell].concat();
        row(&packet, &[column]).map(|mut cells| cells.remove(0))
    }

    fn counted(bytes: &[u8]) -> Vec<u8> {
        let mut cell = Vec::new();
        put_counted(&mut cell, bytes);
        cell
    }

    #[test]
    fn cells_by_their_type() {
        let moment = |text: &str| Value::Timestamp(text.to_owned());
        let date = [0xea, 7, 1, 2, 3, 4, 5, 0x40, 0xe2, 1, 0];
        let long_time = [1, 34, 0, 0, 0, 22, 59, 59, 0x40, 0xe2, 1, 0];
        let cases = [
            ((1, BINARY, 0, 0), vec![0xff], Value::I64(-1)),
            ((1, BINARY, UNSIGNED, 0), vec![0xff], Value::I64(255)),
            ((2, BINARY, 0, 0), vec![0, 0x80], Value::I64(-32768)),
            ((13, BINARY, 0, 0), vec![0xea, 7], Value::I64(2026)),
            ((9, BINARY, 0, 0), vec![0xff, 0xff, 0xff, 0xff], Value::I64(-1)),
            ((8, BINARY, 0, 0), i64::MIN.to_le_bytes().to_vec(), Value::I64(i64::MIN)),
            ((8, BINARY, UNSIGNED, 0), u64::MAX.to_le_bytes().to_vec(), Value::U64(u64::MAX)),
            ((4, BINARY, 0, 31), 0.1_f32.to_le_bytes().to_vec(), Value::F64(0.1)),
            ((5, BINARY, 0, 31), 5e-324_f64.to_le_bytes().to_vec(), Value::F64(5e-324)),
            ((246, BINARY, 0, 2), counted(b"1.50"), Value::Decimal("1.50".into())),
            ((16, BINARY, UNSIGNED, 0), counted(&[1, 2]), Value::I64(258)),
            ((16, BINARY, UNSIGNED, 0), counted(&[255; 8]), Value::U64(u64::MAX)),
            ((10, BINARY, 0, 0), counted(&date[..4]), moment("2026-01-02")),
            ((10, BINARY, 0, 0), counted(&[]), moment("0000-00-00")),
            ((12, BINARY, 0, 6), counted(&date), moment("2026-01-02T03:04:05.123456")),
            ((12, BINARY, 0, 0), counted(&date[..7]), moment("2026-01-02T03:04:05")),
            ((12, BINARY, 0, 3), counted(&date[..4]), moment("2026-01-02T00:00:00.000")),
            ((7, BINARY, 0, 31), counted(&date), moment("2026-01-02T03:04:05.123456Z")),
            ((7, BINARY, 0, 0), counted(&[]), moment("0000-00-00 00:00:00")),
            ((12, BINARY, 0, 0), counted(&[0xea, 7, 5, 0]), moment("2026-05-00 00:00:00")),
            ((11, BINARY, 0, 0), counted(&[]), moment("00:00:00")),
            ((11, BINARY, 0, 6), counted(&long_time), moment("-838:59:59.123456")),
            ((245, BINARY, 0, 0), counted(br#"{"a": [1.5]}"#), Value::Json(json!({"a": [1.5]}))),
            ((252, BINARY, 0, 0), counted(&[0, 255]), Value::Bytes(vec![0, 255])),
            ((252, 45, 0, 0), counted("é".as_bytes()), Value::Text("é".into())),
            ((253, 45, 0, 0), counted(&[0xff]), Value::Bytes(vec![0xff])),
            ((255, BINARY, 0, 0), counted(&[1]), Value::Bytes(vec![1])),
        ];
        for (kind, cell, expected) in cases {
            assert_eq!(one(kind, &cell), Some(expected), "{kind:?} {cell:?}");
            for end in 0..cell.len() {
                assert_eq!(one(kind, &cell[..end]), None, "{kind:?} {cell:?} {end}");
            }
            assert_eq!(one(kind, &[cell, vec![0]].concat()), None, "{kind:?} and more");
        }
        assert_eq!(one((200, 45, 0, 0), &[]), None, "an unknown type");
        assert_eq!(one((16, BINARY, 0, 0), &counted(&[1; 9])), None, "more bits than there are");
    }

    #[test]
    fn mariadb_says_what_is_json() {
        let json = definition(252, 45, 0, 0, Some(b"\x01\x04json"));
        assert_eq!(Column::of(&json, true).unwrap().kind, Kind::Json);
        assert_eq!(Column::of(&definition(254, 63, 0, 0, Some(b"\x00\x05inet6")), true).unwrap().kind, Kind::Bytes);
        assert_eq!(Column::of(&definition(252, 45, 0, 0, Some(b"")), true).unwrap().kind, Kind::Text);
        assert!(Column::of(&definition(252, 45, 0, 0, Some(b"\x01\x09json")), true).is_none());
    }
}
