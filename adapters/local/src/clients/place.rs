//! The files that clients read, by platform.

use std::{ffi::OsString, path::PathBuf};

use super::Client;

/// An operating system, where clients have their files in other places.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Platform {
    /// macOS
    Mac,
    /// Windows
    Windows,
    /// Linux, and what is like it
    Linux,
}

impl Platform {
    /// The one that this runs on.
    pub(crate) const HERE: Self = if cfg!(target_os = "macos") {
        Self::Mac
    } else if cfg!(windows) {
        Self::Windows
    } else {
        Self::Linux
    };
}

impl Client {
    /// The file of a user, for clients that have one.
    pub(crate) fn user_file(self, platform: Platform, variable: &dyn Fn(&str) -> Option<OsString>) -> Option<PathBuf> {
        let folder = |name: &str| variable(name).filter(|value| !value.is_empty()).map(PathBuf::from);
        let home = || folder(if platform == Platform::Windows { "USERPROFILE" } else { "HOME" });
        let settings = || match platform {
            Platform::Mac => Some(home()?.join("Library/Application Support")),
            Platform::Windows => folder("APPDATA"),
            Platform::Linux => folder("XDG_CONFIG_HOME").filter(|path| path.is_absolute()).or_else(|| Some(home()?.join(".config"))),
        };
        match self {
            Self::ClaudeDesktop => Some(settings()?.join("Claude").join("claude_desktop_config.json")),
            Self::Cursor => Some(home()?.join(".cursor").join("mcp.json")),
            Self::VsCode => Some(settings()?.join("Code").join("User").join("mcp.json")),
            Self::Codex => Some(folder("CODEX_HOME").or_else(|| Some(home()?.join(".codex")))?.join("config.toml")),
            Self::GeminiCli => Some(home()?.join(".gemini").join("settings.json")),
            Self::ClaudeCode | Self::ClaudeAi | Self::ChatGpt | Self::McpRemote | Self::Inspector => None,
        }
    }

    /// The file of a project, below its folder, for clients that read one.
    pub(crate) fn project_file(self) -> Option<&'static str> {
        match self {
            Self::ClaudeCode => Some(".mcp.json"),
            Self::Cursor => Some(".cursor/mcp.json"),
            Self::VsCode => Some(".vscode/mcp.json"),
            Self::Codex => Some(".codex/config.toml"),
            Self::GeminiCli => Some(".gemini/settings.json"),
            Self::ClaudeDesktop | Self::ClaudeAi | Self::ChatGpt | Self::McpRemote | Self::Inspector => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_platform_has_its_places() {
        let of = |client: Client, platform, variables: &[(&str, &str)]| {
            let found =
                client.user_file(platform, &|name| variables.iter().find(|(known, _)| *known == name).map(|(_, value)| value.into()));
            found.map(|path| path.to_string_lossy().replace('\\', "/"))
        };
        let here = [("HOME", "/home/ada"), ("USERPROFILE", "C:/Users/ada"), ("APPDATA", "C:/Users/ada/AppData/Roaming")];
        for (client, platform, expected) in [
            (Client::ClaudeDesktop, Platform::Linux, "/home/ada/.config/Claude/claude_desktop_config.json"),
            (Client::ClaudeDesktop, Platform::Mac, "/home/ada/Library/Application Support/Claude/claude_desktop_config.json"),
            (Client::ClaudeDesktop, Platform::Windows, "C:/Users/ada/AppData/Roaming/Claude/claude_desktop_config.json"),
            (Client::Cursor, Platform::Windows, "C:/Users/ada/.cursor/mcp.json"),
            (Client::VsCode, Platform::Mac, "/home/ada/Library/Application Support/Code/User/mcp.json"),
            (Client::VsCode, Platform::Windows, "C:/Users/ada/AppData/Roaming/Code/User/mcp.json"),
            (Client::Codex, Platform::Linux, "/home/ada/.codex/config.toml"),
            (Client::GeminiCli, Platform::Linux, "/home/ada/.gemini/settings.json"),
        ] {
            assert_eq!(of(client, platform, &here).as_deref(), Some(expected));
        }
        let elsewhere = [("HOME", "/home/ada"), ("XDG_CONFIG_HOME", "/c"), ("CODEX_HOME", "/x")];
        assert_eq!(of(Client::VsCode, Platform::Linux, &elsewhere).as_deref(), Some("/c/Code/User/mcp.json"));
        assert_eq!(of(Client::Codex, Platform::Linux, &elsewhere).as_deref(), Some("/x/config.toml"));
        assert_eq!(of(Client::VsCode, Platform::Linux, &[("XDG_CONFIG_HOME", "c")]), None, "a relative folder is nobody's");
        assert_eq!(of(Client::ClaudeAi, Platform::Linux, &here), None);
    }
}
