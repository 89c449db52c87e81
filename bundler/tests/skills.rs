//! What a skill becomes: resources, an entry with digests, and folders.

#![allow(clippy::unwrap_used, reason = "a test that cannot write its files fails")]

use std::{collections::BTreeMap, fs, path::Path};

use crate::support::{options, told};
use millrace_bundler::{Report, bundle};
use millrace_core::{
    Json,
    app::{App, Content, Embedded, Resource, TemplatePart},
    hex,
};
use serde_json::json;
use sha2::{Digest as _, Sha256};

fn build(files: &[(&str, &[u8])]) -> (tempfile::TempDir, Report) {
    let folder = tempfile::tempdir().unwrap();
    for (path, bytes) in files {
        let path = folder.path().join(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, bytes).unwrap();
    }
    let report = bundle(folder.path(), &options());
    (folder, report)
}

const ROOT: (&str, &[u8]) = ("millrace.yaml", b"name: shop\n");
const MANIFEST: &str = "---\r\nname: all\r\ndescription: Has it all.\r\nmetadata: { version: \"1\", depth: 1.5 }\r\nextra: [1, true]\r\n---\r\n\r\nText \u{1f980}.";

/// What a resource sends, by its URI.
fn sent(resources: &[Resource]) -> BTreeMap<String, Vec<u8>> {
    let bytes = |content: &Embedded| match content {
        Embedded::Blob(bytes) => bytes.clone(),
        Embedded::Text(template) => {
            template.0.iter().flat_map(|part| if let TemplatePart::Text(text) = part { text.as_bytes() } else { b"?" }).copied().collect()
        }
    };
    let mut sent = BTreeMap::new();
    for resource in resources {
        match &resource.content {
            Content::Text(template) => drop(sent.insert(resource.uri.literals.concat(), bytes(&Embedded::Text(template.clone())))),
            Content::Files { files, .. } => {
                sent.extend(files.iter().map(|file| (resource.uri.literals.concat() + &file.name, bytes(&file.content))));
            }
            _ => unreachable!(),
        }
    }
    sent
}

#[test]
fn the_entry_has_every_file_with_its_digest() {
    let (_folder, report) = build(&[
        ROOT,
        ("app/skills/all/SKILL.md", MANIFEST.as_bytes()),
        ("app/skills/all/a file.md", b"\xef\xbb\xbfText."),
        ("app/skills/all/config.yaml", b"{}"),
        ("app/skills/all/deep/config.yaml", b"a: 1"),
        ("app/skills/all/deep/er/picture.png", b"\x89PNG\xff"),
        ("app/skills/all/deep/odd.txt", b"\xff\xfe"),
        ("app/skills/all/empty.sh", b""),
        ("app/skills/all/.hidden", b"x"),
        ("app/skills/all/node_modules/x.js", b"x"),
        ("app/skills/other/SKILL.md", b"---\nname: other\ndescription: Another.\n---\n"),
    ]);
    assert_eq!(told(&report), "");
    let app = report.app.unwrap();
    let uris: Vec<&str> = app.skills.iter().map(|skill| skill.uri.as_str()).collect();
    assert_eq!(uris, ["skill://all/SKILL.md", "skill://other/SKILL.md"]);
    let entry: Json = serde_json::from_str(&app.skills[0].descriptor).unwrap();
    let front_matter =
        json!({ "name": "all", "description": "Has it all.", "metadata": { "version": "1", "depth": 1.5 }, "extra": [1, true] });
    assert_eq!((&entry["uri"], &entry["frontmatter"]), (&json!("skill://all/SKILL.md"), &front_matter));
    let sent = sent(&app.resources);
    let mut listed = Vec::new();
    for file in entry["resources"].as_array().unwrap() {
        let uri = file["uri"].as_str().unwrap();
        let bytes = &sent[&uri.replace("%20", " ")];
        assert_eq!(file["digest"], format!("sha256:{}", hex::encode(&Sha256::digest(bytes))), "{uri}");
        assert_eq!(file["size"], bytes.len(), "{uri}");
        listed.push(uri.strip_prefix("skill://all/").unwrap());
    }
    assert_eq!(listed, ["SKILL.md", "a%20file.md", "deep/config.yaml", "deep/er/picture.png", "deep/odd.txt", "empty.sh"]);
    assert_eq!(sent["skill://all/SKILL.md"], MANIFEST.as_bytes());
    let folders: BTreeMap<&str, Json> =
        app.skills[0].folders.iter().map(|folder| (folder.uri.as_str(), serde_json::from_str(&folder.children).unwrap())).collect();
    let names =
        |uri: &str| folders[uri].as_array().unwrap().iter().map(|child| child["name"].as_str().unwrap()).collect::<Vec<_>>().join(" ");
    assert_eq!(folders.keys().copied().collect::<Vec<_>>(), ["skill://all", "skill://all/deep", "skill://all/deep/er"]);
    assert_eq!(names("skill://all"), "all a file.md deep empty.sh");
    assert_eq!(names("skill://all/deep"), "config.yaml er odd.txt");
    assert_eq!(
        folders["skill://all/deep/er"],
        json!([{ "uri": "skill://all/deep/er/picture.png", "name": "picture.png", "mimeType": "image/png" }])
    );
    assert_eq!(folders["skill://all"][2], json!({ "uri": "skill://all/deep", "name": "deep", "mimeType": "inode/directory" }));
    assert_eq!(app.skills[1].files, None);
}

#[test]
fn skills_are_sorted_by_uri() {
    let manifest = |name: &str, body: &str| format!("---\nname: {name}\ndescription: Text.\n---\n{body}");
    let (short, long) = (manifest("refund", ""), manifest("refund-orders", "One."));
    let files = |long: &str| {
        build(&[
            ROOT,
            ("app/skills/refund/SKILL.md", short.as_bytes()),
            ("app/skills/refund/a.txt", b"short"),
            ("app/skills/refund-orders/SKILL.md", long.as_bytes()),
            ("app/skills/refund-orders/a.txt", b"long"),
        ])
    };
    let (_folder, report) = files(&long);
    assert_eq!(told(&report), "");
    let app = App::from_bundle(&report.app.unwrap().to_bundle().unwrap()).unwrap();
    let uris: Vec<&str> = app.skills.iter().map(|skill| skill.uri.as_str()).collect();
    assert_eq!(uris, ["skill://refund-orders/SKILL.md", "skill://refund/SKILL.md"]);
    for skill in &app.skills {
        assert_eq!(app.resources[skill.resource as usize].uri.literals.concat(), skill.uri);
        assert!(skill.uri.starts_with(&app.resources[skill.files.unwrap() as usize].uri.literals.concat()), "{}", skill.uri);
    }
    // Clients keep what they read of a skill by the version.
    let (_folder, report) = files(&manifest("refund-orders", "Two."));
    assert_ne!(report.app.unwrap().identity.surface, app.identity.surface);
}

#[test]
fn what_is_hidden_in_files_that_are_served_is_told() {
    let manifest = "---\nname: all\ndescription: \"Text\\u200B.\"\n---\nBody\u{e0041}\u{e0042}.\n";
    let (_folder, report) = build(&[
        ROOT,
        ("app/skills/all/SKILL.md", manifest.as_bytes()),
        ("app/skills/all/run.sh", "\u{feff}echo\n# \u{202e}turned\n".as_bytes()),
        ("app/skills/all/hebrew.md", "A \u{2067}name\u{2069}.\n".as_bytes()),
        ("app/resources/guide/config.yaml", b"uri: docs://guide\ndescription: A guide.\nfile: guide.md\n"),
        ("app/resources/guide/guide.md", "Zero\u{200b}width.\n".as_bytes()),
    ]);
    for problem in [
        "app/skills/all/SKILL.md:3:19+1 warning: the text contains U+200B,",
        "app/skills/all/SKILL.md:5:5+1 error: the text contains U+E0041 and 1 more,",
        "app/skills/all/run.sh:2:3+1 error: the text contains U+202E,",
        "app/skills/all/hebrew.md:1:3+1 warning: the text contains U+2067 and 1 more,",
        "app/resources/guide/guide.md:1:5+1 warning: the text contains U+200B,",
    ] {
        assert!(told(&report).contains(problem), "{problem}\n{}", told(&report));
    }
    assert_eq!(report.diagnostics.len(), 5, "{}", told(&report));
}

#[test]
fn a_skill_has_limits() {
    let manifest = ("app/skills/all/SKILL.md", b"---\nname: all\ndescription: Text.\n---\n".as_slice());
    let names: Vec<String> = (0..512).map(|number| format!("app/skills/all/{number}.txt")).collect();
    let mut files = vec![ROOT, manifest];
    files.extend(names.iter().map(|name| (name.as_str(), b"x".as_slice())));
    let (_folder, report) = build(&files);
    assert!(told(&report).contains("app/skills/all/SKILL.md:1:1+0 error: the skill `all` has more than 512 files"), "{}", told(&report));
    files.pop();
    assert_eq!(told(&build(&files).1), "");
    let half = vec![b'x'; (8 << 20) + 1];
    let (_folder, report) = build(&[ROOT, manifest, ("app/skills/all/a", &half), ("app/skills/all/b", &half)]);
    assert!(told(&report).contains("error: the files of the skills are longer than 16 MB together"), "{}", told(&report));
    let (_folder, report) = build(&[ROOT, ("app/skills/all/SKILL.md", b"\xef\xbb\xbf---\nname: all\ndescription: Text.\n---\n")]);
    assert!(told(&report).contains("error: the file begins with a byte order mark"), "{}", told(&report));
    let long = format!("---\nname: {}\ndescription: {}\ncompatibility: {}\n---\n", "a".repeat(65), "ü".repeat(1025), "x".repeat(501));
    let (_folder, report) = build(&[ROOT, (&format!("app/skills/{}/SKILL.md", "a".repeat(65)), long.as_bytes())]);
    for problem in ["`name` has 65 characters", "`description` has 1025 characters", "`compatibility` has 501 characters"] {
        assert!(told(&report).contains(problem), "{}", told(&report));
    }
}

#[cfg(unix)]
#[test]
fn links_that_lead_out_are_refused() {
    let outside = tempfile::tempdir().unwrap();
    fs::write(outside.path().join("secret"), "x").unwrap();
    let manifest = ("app/skills/all/SKILL.md", b"---\nname: all\ndescription: Text.\n---\n".as_slice());
    let (folder, _) = build(&[ROOT, manifest]);
    let skill = folder.path().join("app/skills/all");
    let link = |to: &Path, name: &str| std::os::unix::fs::symlink(to, skill.join(name)).unwrap();
    link(&outside.path().join("secret"), "out");
    let report = bundle(folder.path(), &options());
    assert!(told(&report).contains("app/skills/all/out:1:1+0 error: the file `out` is outside of the app's folder"), "{}", told(&report));
    fs::remove_file(skill.join("out")).unwrap();
    link(outside.path(), "folder");
    link(outside.path(), "../linked");
    let report = bundle(folder.path(), &options());
    assert!(told(&report).contains("error: the file `folder`"), "{}", told(&report));
    assert!(told(&report).contains("app/skills/linked:1:1+0 warning: `linked` is a link to a folder"), "{}", told(&report));
}
