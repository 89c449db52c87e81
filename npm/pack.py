#!/usr/bin/env python3
"""Packs what is published: npm packages from finished commands and runtimes, and their checksums. The same files give the same bytes.

    npm/pack.py --commands DIR --runtimes DIR --out DIR

`--fast` packs in seconds what is as large again, for tests. `--commands` has PLATFORM/millrace (or millrace.exe), of as many platforms as were built; `--runtimes` is what `millrace runtimes` wrote.
"""
import argparse, hashlib, io, json, lzma, os, re, shutil, subprocess, tarfile, tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
PLATFORMS = ["darwin-arm64", "darwin-x64", "linux-arm64", "linux-x64", "win32-x64"]
# One window for all of the Worker's runtimes, which are alike.
WINDOW = 64 << 20


def version():
    text = (ROOT / "Cargo.toml").read_text()
    return re.search(r'^\[workspace\.package\]\nversion = "(.*)"', text, re.M).group(1)


def packed(data, fast, *before):
    best = {"preset": 9 | lzma.PRESET_EXTREME, "dict_size": WINDOW}
    filters = [*before, {"id": lzma.FILTER_LZMA2, **({"preset": 0} if fast else best)}]
    return lzma.compress(data, format=lzma.FORMAT_XZ, check=lzma.CHECK_CRC64, filters=filters)


def archive(folder):
    out = io.BytesIO()
    with tarfile.open(fileobj=out, mode="w", format=tarfile.USTAR_FORMAT) as tar:
        for file in sorted(path for path in folder.rglob("*") if path.is_file()):
            entry = tarfile.TarInfo(file.relative_to(folder).as_posix())
            entry.size = file.stat().st_size
            with file.open("rb") as data:
                tar.addfile(entry, data)
    return out.getvalue()


def package(source, stage, names):
    """Copies a package's files, with its version and the words for this platform put in."""
    shutil.copytree(ROOT / "npm" / source, stage)
    for file in (stage / "package.json", stage / "README.md"):
        text = file.read_text()
        for word, value in names.items():
            text = text.replace("{{%s}}" % word, value)
        file.write_text(text)
    described = json.loads((stage / "package.json").read_text())
    described["version"] = version()
    for group in ("dependencies", "optionalDependencies"):
        for name in described.get(group, {}):
            described[group][name] = version()
    (stage / "package.json").write_text(json.dumps(described, indent=2) + "\n")
    shutil.copy(ROOT / "LICENSE", stage / "LICENSE")


def npm_pack(stage, out):
    made = subprocess.run(["npm", "pack", "--ignore-scripts", "--silent", "--pack-destination", out], cwd=stage, stdout=subprocess.PIPE, text=True, check=True)
    return made.stdout.strip().splitlines()[-1]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    for name in ("commands", "runtimes", "out"):
        parser.add_argument(f"--{name}", type=Path, required=True)
    parser.add_argument("--fast", action="store_true")
    given = parser.parse_args()
    out = given.out.resolve()
    out.mkdir(parents=True, exist_ok=True)
    for old in out.glob("*.tgz"):
        old.unlink()
    files = []
    with tempfile.TemporaryDirectory() as folder:
        folder = Path(folder)
        package("millrace", folder / "millrace", {})
        files.append(npm_pack(folder / "millrace", out))
        runtimes = folder / "runtimes"
        package("runtimes", runtimes, {})
        (runtimes / "VERSION").write_text(version() + "\n")
        (runtimes / "worker.tar.xz").write_bytes(packed(archive(given.runtimes / "worker"), given.fast))
        for name, before in (("x86_64", [{"id": lzma.FILTER_X86}]), ("arm64", [])):
            file = given.runtimes / f"bootstrap-{name}"
            if file.exists():
                (runtimes / f"{file.name}.xz").write_bytes(packed(file.read_bytes(), given.fast, *before))
            else:
                print(f"no {file.name}: the package does not build for that processor")
        files.append(npm_pack(runtimes, out))
        for platform in PLATFORMS:
            command = given.commands / platform / ("millrace.exe" if platform.startswith("win32") else "millrace")
            if not command.exists():
                print(f"no command for {platform}: no package for it")
                continue
            system, processor = platform.split("-")
            stage = folder / platform
            package("platform", stage, {"platform": platform, "os": system, "cpu": processor})
            (stage / "bin").mkdir()
            shutil.copy(command, stage / "bin" / command.name)
            os.chmod(stage / "bin" / command.name, 0o755)
            files.append(npm_pack(stage, out))
    for name in sorted(files):
        print(f"{(out / name).stat().st_size:>10}  {name}")


main()
