//! URIs of files, and the paths that they mean.

use std::path::{Path, PathBuf};

use url::Url;

/// The path of a `file:` URI.
pub(super) fn path_of(uri: &str) -> Option<PathBuf> {
    Url::parse(uri).ok().filter(|url| url.scheme() == "file")?.to_file_path().ok()
}

/// The URI of a path.
pub(super) fn uri_of(path: &Path) -> Option<String> {
    Url::from_file_path(path).ok().map(String::from)
}

#[cfg(all(test, unix))]
mod tests {
    use super::*;

    #[test]
    fn paths_survive() {
        for (uri, path) in [("file:///a/b%20c/%C3%A4.yaml", "/a/b c/ä.yaml"), ("file:///x%23y", "/x#y"), ("file:///c%3A/x", "/c:/x")] {
            assert_eq!(path_of(uri).unwrap(), Path::new(path));
            assert_eq!(path_of(&uri_of(Path::new(path)).unwrap()).unwrap(), Path::new(path));
        }
        assert_eq!(path_of("untitled:Untitled-1"), None);
        assert_eq!(path_of("no uri"), None);
    }
}
