//! Names that are data.

use std::collections::BTreeMap;

/// Makes names unique, in order, as columns are: the second `id` is `id_2`. There may be many.
pub(super) fn unique(names: Vec<String>) -> Vec<String> {
    // How often each was there; a name that was made is there, too.
    let mut known: BTreeMap<String, usize> = BTreeMap::new();
    let mut unique = Vec::with_capacity(names.len());
    for name in names {
        let mut candidate = name.clone();
        let mut count = known.get(&name).copied().unwrap_or(0);
        while known.contains_key(&candidate) {
            count += 1;
            candidate = format!("{name}_{count}");
        }
        if candidate != name {
            known.insert(name, count);
        }
        known.insert(candidate.clone(), 1);
        unique.push(candidate);
    }
    unique
}

#[cfg(test)]
mod tests {
    use std::time::Instant;

    use super::*;

    #[test]
    fn names_become_unique() {
        let of = |names: &[&str]| unique(names.iter().map(ToString::to_string).collect());
        assert_eq!(of(&["id", "id", "id", "x"]), ["id", "id_2", "id_3", "x"]);
        assert_eq!(of(&["id", "id_2", "id"]), ["id", "id_2", "id_3"]);
        let started = Instant::now();
        assert_eq!(unique(vec!["a".to_owned(); 100_000]).last().unwrap(), "a_100000");
        assert!(started.elapsed().as_secs() < 5, "the time does not grow with the square");
    }
}
