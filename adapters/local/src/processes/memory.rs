//! How much memory an isolate may have.

#[cfg(target_os = "linux")]
use std::{
    fs,
    path::{Path, PathBuf},
};

use crate::output::{CommandError, CommandResult};

/// The most that an isolate gets without being asked, and the least, in MB.
const MOST_MB: u64 = 1024;
pub(super) const LEAST_MB: u64 = 128;

/// What each isolate gets where nobody says: three quarters of what this process may have, shared,
/// and no more than 1 GB.
pub(super) fn default_mb(isolates: usize) -> u64 {
    let share = |total_mb: u64| total_mb / 4 * 3 / isolates.max(1) as u64;
    available_mb().map_or(MOST_MB, share).clamp(LEAST_MB, MOST_MB)
}

/// Bounds what this process may have: its heap, and whatever else it may write to that no other
/// process sees. Files that are mapped do not count, stacks count whole. Where the system knows no
/// such limit, it says so at the level `debug`.
///
/// # Errors
/// The system refuses.
pub(super) fn bound(memory_mb: u64) -> CommandResult {
    let bytes = memory_mb.saturating_mul(1 << 20);
    let resource = rlimit::Resource::DATA;
    let (_, most) = resource.get().map_err(CommandError::wrong)?;
    let bytes = bytes.min(most);
    resource.set(bytes, bytes).map_err(|error| CommandError::Wrong(format!("the memory cannot be limited to {memory_mb} MB: {error}")))
}

/// The machine's memory, or that of the control group where it is less.
#[cfg(target_os = "linux")]
fn available_mb() -> Option<u64> {
    let machine = fs::read_to_string("/proc/meminfo").ok()?;
    let total_kb: u64 = machine.lines().find_map(|line| line.strip_prefix("MemTotal:"))?.split_whitespace().next()?.parse().ok()?;
    let groups = fs::read_to_string("/proc/self/cgroup").unwrap_or_default();
    let limit_mb = limits(&groups, Path::new("/sys/fs/cgroup")).map(|bytes| bytes >> 20).min();
    Some(limit_mb.map_or(total_kb >> 10, |limit_mb| limit_mb.min(total_kb >> 10)))
}

#[cfg(not(target_os = "linux"))]
fn available_mb() -> Option<u64> {
    None
}

/// The limits in bytes of a process's control groups and of all above them, in either version.
/// Within a container the path may be one of the machine outside, which is not there: then the top
/// of what is mounted counts.
#[cfg(target_os = "linux")]
fn limits<'a>(groups: &'a str, mounted: &'a Path) -> impl Iterator<Item = u64> + 'a {
    let folders = groups.lines().filter_map(move |line| {
        let mut parts = line.splitn(3, ':').skip(1);
        let (controllers, path) = (parts.next()?, parts.next()?.trim_start_matches('/'));
        let (root, file): (PathBuf, &'static str) = match controllers {
            "" => (mounted.to_owned(), "memory.max"),
            names if names.split(',').any(|name| name == "memory") => (mounted.join("memory"), "memory.limit_in_bytes"),
            _ => return None,
        };
        Some((root.join(path), root, file))
    });
    folders.flat_map(|(folder, root, file)| {
        let within = folder.ancestors().take_while(|folder| folder.starts_with(&root)).map(|folder| folder.join(file)).collect::<Vec<_>>();
        // What is not limited is a word, or a number that no machine has.
        within.into_iter().filter_map(|file| fs::read_to_string(file).ok()?.trim().parse().ok())
    })
}

#[cfg(test)]
#[cfg(target_os = "linux")]
mod tests {
    use super::*;

    #[test]
    fn the_least_limit_of_the_control_groups_counts() {
        let folder = tempfile::tempdir().unwrap();
        let put = |path: &str, text: &str| {
            fs::create_dir_all(folder.path().join(path).parent().unwrap()).unwrap();
            fs::write(folder.path().join(path), text).unwrap();
        };
        put("a/memory.max", "1000\n");
        put("a/b/memory.max", "max\n");
        put("memory/x/memory.limit_in_bytes", "3000\n");
        put("memory/memory.limit_in_bytes", "9223372036854771712\n");
        let found = |groups: &str| limits(groups, folder.path()).min();
        assert_eq!(found("0::/a/b\n"), Some(1000));
        assert_eq!(found("4:cpu:/x\n2:memory:/x\n"), Some(3000));
        assert_eq!(found("2:memory:/elsewhere/outside\n"), Some(9_223_372_036_854_771_712));
        assert_eq!(found("0::/\n"), None);
        assert_eq!(found(""), None);
    }

    #[test]
    fn isolates_share_what_there_is() {
        for isolates in [1, 2, 64, 1024] {
            assert!((LEAST_MB..=MOST_MB).contains(&default_mb(isolates)), "{isolates}");
        }
    }
}
