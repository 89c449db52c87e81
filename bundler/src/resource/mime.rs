//! MIME types of embedded files.

/// Extensions and their types, the text types of an app's documents and the usual pictures.
const TYPES: [(&str, &str); 30] = [
    ("avif", "image/avif"),
    ("css", "text/css"),
    ("csv", "text/csv"),
    ("flac", "audio/flac"),
    ("gif", "image/gif"),
    ("htm", "text/html"),
    ("html", "text/html"),
    ("jpeg", "image/jpeg"),
    ("jpg", "image/jpeg"),
    ("js", "text/javascript"),
    ("json", "application/json"),
    ("m4a", "audio/mp4"),
    ("md", "text/markdown"),
    ("mp3", "audio/mpeg"),
    ("mp4", "video/mp4"),
    ("ogg", "audio/ogg"),
    ("opus", "audio/opus"),
    ("pdf", "application/pdf"),
    ("png", "image/png"),
    ("py", "text/x-python"),
    ("sh", "application/x-sh"),
    ("svg", "image/svg+xml"),
    ("txt", "text/plain"),
    ("wasm", "application/wasm"),
    ("wav", "audio/wav"),
    ("webp", "image/webp"),
    ("xml", "application/xml"),
    ("yaml", "application/yaml"),
    ("yml", "application/yaml"),
    ("zip", "application/zip"),
];

/// The type of a file: by its extension, else by whether it is text.
pub(crate) fn guess(name: &str, bytes: &[u8]) -> &'static str {
    let extension = name.rsplit_once('.').map_or("", |(_, extension)| extension);
    if let Some((_, known)) = TYPES.iter().find(|(known, _)| extension.eq_ignore_ascii_case(known)) {
        return known;
    }
    if std::str::from_utf8(bytes).is_ok() { "text/plain; charset=utf-8" } else { "application/octet-stream" }
}

/// Whether content of a type is sent as text.
pub(crate) fn is_text(mime_type: &str) -> bool {
    let essence = mime_type.split(';').next().unwrap_or_default().trim().to_ascii_lowercase();
    let (kind, sub) = essence.split_once('/').unwrap_or((&essence, ""));
    kind == "text"
        || ["json", "xml", "yaml", "toml", "javascript", "ecmascript", "sql", "graphql", "x-ndjson", "x-sh"].contains(&sub)
        || ["+json", "+xml", "+yaml"].iter().any(|suffix| sub.ends_with(suffix))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn knows_types() {
        assert_eq!(guess("a/b.MD", b""), "text/markdown");
        assert_eq!(guess("LICENSE", b"text"), "text/plain; charset=utf-8");
        assert_eq!(guess("blob", b"\xff\x00"), "application/octet-stream");
        for text in ["text/plain; charset=utf-8", "application/json", "image/svg+xml", "Application/LD+JSON"] {
            assert!(is_text(text), "{text}");
        }
        for other in ["image/png", "application/octet-stream", "application/zip", ""] {
            assert!(!is_text(other), "{other}");
        }
    }
}
