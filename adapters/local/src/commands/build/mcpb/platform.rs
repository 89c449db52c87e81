//! The system that a program, and so a desktop bundle, is for.

/// A system that desktop clients run on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Platform {
    Linux,
    Mac,
    Windows,
}

impl Platform {
    /// The one that a program is for, by how it begins.
    pub(super) fn of_program(bytes: &[u8]) -> Option<Self> {
        match bytes {
            [0x7f, b'E', b'L', b'F', ..] => Some(Self::Linux),
            // Mach-O of 64 bits, and several in one file.
            [0xcf, 0xfa, 0xed, 0xfe, ..] | [0xca, 0xfe, 0xba, 0xbe, ..] => Some(Self::Mac),
            [b'M', b'Z', ..] => Some(Self::Windows),
            _ => None,
        }
    }

    /// Node's word, which the manifest uses.
    pub(super) fn of_node(self) -> &'static str {
        match self {
            Self::Linux => "linux",
            Self::Mac => "darwin",
            Self::Windows => "win32",
        }
    }

    /// The program's path in the archive.
    pub(super) fn program(self) -> &'static str {
        if self == Self::Windows { "server/millrace.exe" } else { "server/millrace" }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_program_tells_its_platform() {
        for (bytes, platform) in [
            (b"\x7fELF\x02".as_slice(), Some(Platform::Linux)),
            (&[0xcf, 0xfa, 0xed, 0xfe, 0], Some(Platform::Mac)),
            (b"MZ\x90", Some(Platform::Windows)),
            (b"#!/bin/sh", None),
            (b"", None),
        ] {
            assert_eq!(Platform::of_program(bytes), platform);
        }
    }
}
