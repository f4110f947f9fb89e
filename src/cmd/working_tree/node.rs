//! npm and pnpm: their configuration, pnpm's hooks, the version that a package asks for.

use super::{all_above, home};
use serde_json::Value;
use std::path::Path;

/// Settings of an `.npmrc` that name no program and no other file with settings; any other may.
const SAFE_SETTINGS: &[&str] = &[
    "access",
    "always-auth",
    "audit",
    "audit-level",
    "auto-install-peers",
    "color",
    "dedupe-peer-dependents",
    "enable-pre-post-scripts",
    "engine-strict",
    "fetch-retries",
    "fetch-timeout",
    "fund",
    "hoist",
    "hoist-pattern",
    "ignore-scripts",
    "include",
    "include-workspace-root",
    "install-links",
    "legacy-peer-deps",
    "link-workspace-packages",
    "lockfile",
    "loglevel",
    "message",
    "node-linker",
    "omit",
    "optional",
    "package-lock",
    "prefer-offline",
    "prefer-workspace-packages",
    "progress",
    "provenance",
    "public-hoist-pattern",
    "registry",
    "resolution-mode",
    "save-exact",
    "save-prefix",
    "save-workspace-protocol",
    "shamefully-hoist",
    "side-effects-cache",
    "strict-peer-dependencies",
    "strict-ssl",
    "tag-version-prefix",
    "timeout",
    "update-notifier",
];

/// Registries of everybody, to which a secret may go that their address is before.
const PUBLIC_REGISTRIES: &[&str] = &["//npm.pkg.github.com/", "//registry.npmjs.org/", "//registry.yarnpkg.com/"];

/// Whether npm's and pnpm's reading commands run nothing that a file here names.
pub(super) fn runs_nothing(folder: &Path) -> bool {
    // pnpm's hooks, the settings of corepack, and the npm that pnpm runs.
    const CODE: &[&str] = &[".corepack.env", ".pnpmfile.cjs", ".pnpmfile.mjs", "node_modules/.bin/npm", "pnpmfile.js"];
    all_above(folder, CODE, &[], |_| false)
        && all_above(folder, &["pnpm-workspace.yaml"], &[], workspace_is_harmless)
        && all_above(folder, &["package.json"], &[], package_is_harmless)
        && all_above(
            folder,
            &[".npmrc"],
            &home().map(|home| home.join(".npmrc")).into_iter().collect::<Vec<_>>(),
            npmrc_is_harmless,
        )
}

fn npmrc_is_harmless(text: &str) -> bool {
    let lines = text.split(['\n', '\r']).map(str::trim);
    lines.filter(|line| !line.is_empty() && !line.starts_with(['#', ';'])).all(|line| {
        let (key, value) = line.split_once('=').unwrap_or((line, ""));
        let key = key.trim().trim_end_matches("[]").to_lowercase();
        let is_registry = key.starts_with('@') && key.ends_with(":registry");
        let is_login = key.starts_with("//");
        // A variable may be a secret, which goes to the server: any that the folder names.
        (is_login || is_registry || SAFE_SETTINGS.contains(&&*key)) && !value.contains("${")
            || PUBLIC_REGISTRIES.iter().any(|registry| key.starts_with(registry))
    })
}

/// Settings of a workspace that name code, or a version of a program.
fn workspace_is_harmless(text: &str) -> bool {
    let text = text.to_lowercase();
    const CODE: &[&str] =
        &["pnpmfile", "configdependencies", "nodeversion", "nodeoptions", "shell", "\\", "executionenv"];
    !CODE.iter().any(|key| text.contains(key))
}

/// Whether a package asks for a published version of its package manager, if for any.
fn package_is_harmless(text: &str) -> bool {
    let Ok(Value::Object(package)) = serde_json::from_str(text) else { return false };
    let is_published = |manager: &str| {
        manager.split_once('@').is_some_and(|(name, version)| {
            ["bun", "npm", "pnpm", "yarn"].contains(&name)
                && version.starts_with(|one: char| one.is_ascii_digit())
                && version.chars().all(|one| one.is_ascii_alphanumeric() || ".+-".contains(one))
        })
    };
    let of_pnpm = package.get("pnpm").map(Value::to_string).unwrap_or_default();
    package.get("packageManager").is_none_or(|manager| manager.as_str().is_some_and(is_published))
        && package.get("devEngines").is_none_or(|engines| engines.get("packageManager").is_none())
        && workspace_is_harmless(&of_pnpm)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn settings_that_name_code_are_found() {
        assert!(npmrc_is_harmless(
            "# a\nregistry = https://r.example\n@a:registry=https://b\n//registry.npmjs.org/:_authToken=${T}\n//b/:always-auth=true\nhoist-pattern[]=*\n"
        ));
        for text in [
            "git=./x",
            "onload-script = x.js",
            "node-options=--require ./x",
            "prefix=./x",
            "\"git\"=./x",
            "x",
            "fund=true\rpnpmfile=./x",
            "registry=http://h/${TOKEN}",
            "//evil.example/:_authToken=${AWS_SECRET_ACCESS_KEY}",
            "//registry.npmjs.org.evil.example/:_authToken=${T}",
        ] {
            assert!(!npmrc_is_harmless(text), "{text}");
        }
        assert!(package_is_harmless("{}") && package_is_harmless("{\"packageManager\":\"pnpm@9.1.0+sha512.ab\"}"));
        for text in [
            "{\"packageManager\":\"pnpm@https://x.example/a.tgz\"}",
            "{\"packageManager\":\"pnpm@file:x\"}",
            "{\"pnpm\":{\"configDependencies\":{\"a\":\"1\"}}}",
            "[",
        ] {
            assert!(!package_is_harmless(text), "{text}");
        }
        assert!(workspace_is_harmless("packages:\n  - 'a/*'\n") && !workspace_is_harmless("pnpmfile: x.cjs"));
    }
}
