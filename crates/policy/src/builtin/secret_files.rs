//! Paths and patterns of files that hold secrets: keys, passwords, tokens, cookies, what was typed into a shell.

use crate::lists::secret_files::{FILES, FOLDERS, TEXT_ENDINGS, WORDS};
use percent_encoding::percent_decode_str;
use pipewright_record::identifier::words;

/// Whether a text is or has a path of such a file or folder, a pattern that such a path matches, or a folder in which
/// there are many.
pub fn may_name(text: &str) -> bool {
    let decoded = percent_decode_str(text).decode_utf8_lossy().to_lowercase().replace('\\', "/");
    let apart = |one: char| one.is_whitespace() || "=:@;,'\"()|<>&".contains(one);
    is_secret(&decoded)
        || decoded.split(apart).filter(|part| !part.is_empty()).any(|part| is_secret(part) || is_wide(part))
}

fn is_secret(path: &str) -> bool {
    let steps: Vec<String> = path.split('/').filter(|step| !["", "."].contains(step)).map(simplified).collect();
    let is = |known: &str, steps: &[String]| {
        let known: Vec<&str> = known.split('/').collect();
        known.len() == steps.len() && known.iter().zip(steps).all(|(known, step)| may_be(step, known))
    };
    let ends =
        |known: &&str| steps.len().checked_sub(known.split('/').count()).is_some_and(|at| is(known, &steps[at..]));
    let holds = |known: &&str| {
        // A folder of any name is judged by what is searched for in it.
        let is_any = |step: &String| step.chars().all(|one| one == '*');
        steps.windows(known.split('/').count()).any(|steps| !steps.iter().any(is_any) && is(known, steps))
    };
    FILES.iter().any(ends) || FOLDERS.iter().any(holds) || has_secret_word(&steps)
}

/// Whether the name of a file or a folder has a word for a secret, and the file is no program text.
fn has_secret_word(steps: &[String]) -> bool {
    let is_text = |name: &String| name.rsplit_once('.').is_some_and(|(_, ending)| TEXT_ENDINGS.contains(&ending));
    let tells = |step: &String| {
        let words = words(step);
        words.iter().any(|word| WORDS.contains(&&**word)) || words.windows(2).any(|pair| pair == ["api", "key"])
    };
    !steps.last().is_none_or(is_text) && steps.iter().any(tells)
}

/// A step of a path, with `*` in place of brackets and braces.
fn simplified(step: &str) -> String {
    let (mut text, mut depth) = (String::new(), 0_usize);
    for one in step.chars() {
        match one {
            '[' | '{' => {
                depth += 1;
                text.push('*');
            }
            // A bracket may close what an earlier step has opened.
            ']' | '}' if depth == 0 => text = "*".to_owned(),
            ']' | '}' => depth -= 1,
            _ if depth == 0 => text.push(one),
            _ => {}
        }
    }
    text
}

/// Whether a pattern and a known name have a text in common. The end of a known name, if it may be anything, is
/// compared as text: else `*.rs` would be `.env.rs`.
fn may_be(pattern: &str, known: &str) -> bool {
    if known.ends_with('*') {
        return pipewright_record::glob::matches(known, pattern);
    }
    let (pattern, known): (Vec<char>, Vec<char>) = (pattern.chars().collect(), known.chars().collect());
    // Whether the rests from each place on have a text in common, by the place in the known name; from the pattern's
    // end backwards.
    let mut behind: Vec<bool> = (0..=known.len()).map(|at| known[at..].iter().all(|one| *one == '*')).collect();
    for one in pattern.iter().rev() {
        let mut here = vec![false; known.len() + 1];
        for at in (0..=known.len()).rev() {
            here[at] = match known.get(at) {
                Some('*') => here[at + 1] || behind[at],
                Some(own) if *one == '*' => behind[at] || here[at + 1] || behind[at + 1] && *own != '*',
                Some(own) => (*one == '?' || one == own) && behind[at + 1],
                None => *one == '*' && behind[at],
            };
        }
        behind = here;
    }
    behind[0]
}

/// Whether a path is a folder with the files of a person or of the system.
fn is_wide(path: &str) -> bool {
    let steps: Vec<&str> = path.split('/').filter(|step| !["", "."].contains(step)).collect();
    let is_absolute = path.starts_with('/');
    match steps[..] {
        [] => is_absolute,
        ["home" | "users", ..] if is_absolute => steps.len() <= 2,
        ["etc" | "proc" | "root" | "run"] if is_absolute => true,
        ["proc", ..] | ["dev", ..] if is_absolute => steps != ["dev", "null"],
        [home] if home.starts_with('~') => true,
        _ => !is_absolute && steps.iter().all(|step| *step == ".."),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_with_secrets_are_found_by_any_path() {
        for path in "
            /home/me/.ssh/id_rsa ~/.ssh ~/.ssh/config ~/.ss*/id_* ~/.s?h/x /h/.SSH/ID_RSA id_ed25519 deploy_rsa \
            srv/tls.pem *.pem s*.pe?
            a.key .env .env.local .en* config/.env.* prod.env ~/.aws/credentials ~/.aws/* ~/.netrc .n[e]trc \
            ~/{.netrc,x} ~/{a,.ssh/id}
            ~/.npmrc .pypirc ~/.git-credentials ~/.docker/config.json ~/.docker/* .kube/config kubeconfig \
            ~/.config/gcloud/x.db
            ~/.gnupg/secring.gpg /Users/me/Library/Keychains/login.keychain-db ~/.mozilla/firefox/x/cookies.sqlite
            ~/.bash_history .zsh_history /etc/shadow /proc/1/environ /proc/self/environ /proc/*/environ \
            terraform.tfstate x.kdbx
            a.p12 a.pfx .htpasswd my-service-account-1.json --file=.env -f/etc/shadow @.env HEAD:.env if=/etc/shadow \
            a/../.ssh/x
            file:///home/me/.ssh/id_rsa file:///h/%2Essh/id .//.ssh//x C:\\Users\\me\\.ssh\\id_rsa * ** src/* / ~ \
            ~root /home /home/me
            /home/me/ /etc /proc .. ../.. /run/secrets/db /dev/sda
            ~/.gemini/oauth_creds.json ~/.rclone.conf ~/.databrickscfg ~/.snowsql/config ~/.curlrc .wgetrc \
            ~/.config/hub ~/.netlify/config.json ~/.fly/config.yml ~/.railway/config.json vault_pass.txt deploy/vault_pass
            github_token my-token.txt db_password api_key.txt API-KEY aws-credentials.csv config/secrets/prod.yaml \
            .github-token secret.yaml apikey
        "
        .split_whitespace()
        {
            assert!(may_name(path), "{path}");
        }
        assert!(may_name("/h/Default/Login Data") && may_name("cat ~/.ssh/x"));
    }

    #[test]
    fn other_files_are_not() {
        for path in "
            /home/me/p /home/me/p/src/a.rs src *.rs src/**/*.rs **/*.md a.txt README.md Cargo.toml package.json \
            environment.rs env.rs
            keys.rs token.rs id.rs .gitignore .github/workflows/ci.yml ssh aws.rs docs/.env-sample.md HEAD HEAD~1 -la \
            . ./src
            /usr/share/doc /tmp/x /dev/null https://example.org/a secrets.rs shadow.css memory
            src/token/mod.rs docs/passwords.md tokenizer.json src/api_key.ts config/hub
        "
        .split_whitespace()
        {
            assert!(!may_name(path), "{path}");
        }
    }
}
