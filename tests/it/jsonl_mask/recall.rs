//! The recall for each kind: the values in presidio-evaluator's sentences, and every documented form.

use super::masked;
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::fmt::Write as _;

/// The minimum recall of each kind, in percent.
const GOAL: usize = 95;

/// Sentences with values and their kinds. Masks them all, and counts the masked values by kind.
fn check(sentences: &[(Value, Vec<(String, String)>)]) {
    let mut input = String::new();
    for (line, _) in sentences {
        let _ = writeln!(input, "{line}");
    }
    let output = masked(&input);
    let mut counts: BTreeMap<&str, (usize, usize)> = BTreeMap::new();
    let mut missed = Vec::new();
    for ((_, values), masked) in sentences.iter().zip(output.lines()) {
        // Decoded, because a value may contain escapes.
        let text = serde_json::from_str::<Value>(masked).unwrap().to_string();
        for (kind, value) in values {
            let (found, all) = counts.entry(kind).or_default();
            *all += 1;
            if text.contains(value.as_str()) { missed.push(masked) } else { *found += 1 }
        }
    }
    assert_eq!(output.lines().count(), sentences.len());
    for (kind, (found, all)) in &counts {
        assert!(found * 100 >= all * GOAL && *all >= 20, "{kind}: {found} of {all}\n{}", missed.join("\n"));
    }
}

#[test]
fn presidios_sentences_are_masked() {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/fixtures/mask/presidio.jsonl");
    let sentences = std::fs::read_to_string(path).unwrap();
    let sentences: Vec<_> = sentences.lines().map(|line| serde_json::from_str::<Value>(line).unwrap()).collect();
    let sentences = sentences.iter().map(|sentence| {
        let values: Vec<(String, String)> = serde_json::from_value(sentence["values"].clone()).unwrap();
        (json!({"text": sentence["text"]}), values)
    });
    check(&sentences.collect::<Vec<_>>());
}

/// A generator of the same numbers in every run.
struct Dice(u64);

impl Dice {
    fn next(&mut self, below: usize) -> usize {
        // xorshift64*
        self.0 ^= self.0 >> 12;
        self.0 ^= self.0 << 25;
        self.0 ^= self.0 >> 27;
        (self.0.wrapping_mul(0x2545_f491_4f6c_dd1d) >> 33) as usize % below
    }

    fn text(&mut self, alphabet: &str, length: usize) -> String {
        let alphabet: Vec<char> = alphabet.chars().collect();
        (0..length).map(|_| alphabet[self.next(alphabet.len())]).collect()
    }
}

const DIGITS: &str = "0123456789";
const HEX: &str = "0123456789abcdef";
const CAPITALS: &str = "ABCDEFGHIJKLMNOPQRSTUVWXYZ234567";
const WORD: &str = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789";

/// The prefixes, lengths and alphabets of providers' keys.
const KEYS: &[(&str, &str, usize)] = &[
    ("sk-", WORD, 48),
    ("sk-proj-", WORD, 60),
    ("sk-ant-api03-", WORD, 90),
    ("sk-or-v1-", HEX, 64),
    ("ghp_", WORD, 36),
    ("gho_", WORD, 36),
    ("ghs_", WORD, 36),
    ("github_pat_", WORD, 60),
    ("AKIA", CAPITALS, 16),
    ("ASIA", CAPITALS, 16),
    ("AIza", WORD, 35),
    ("ya29.", WORD, 60),
    ("GOCSPX-", WORD, 28),
    ("xoxb-", WORD, 40),
    ("xoxp-", WORD, 40),
    ("xapp-1-", WORD, 40),
    ("glpat-", WORD, 20),
    ("npm_", WORD, 36),
    ("pypi-AgEIcHlwaS5vcmc", WORD, 90),
    ("rubygems_", HEX, 48),
    ("sk_live_", WORD, 24),
    ("rk_test_", WORD, 24),
    ("whsec_", WORD, 32),
    ("key-", HEX, 32),
    ("dop_v1_", HEX, 64),
    ("dapi", HEX, 32),
    ("dckr_pat_", WORD, 27),
    ("hf_", WORD, 34),
    ("gsk_", WORD, 52),
    ("xai-", WORD, 80),
    ("r8_", WORD, 37),
    ("pplx-", WORD, 48),
    ("nvapi-", WORD, 64),
    ("shpat_", HEX, 32),
    ("hvs.", WORD, 90),
    ("lin_api_", WORD, 40),
];

/// A value of a kind, and a text around it.
fn in_text(kind: &str, dice: &mut Dice) -> (String, String) {
    let word = |dice: &mut Dice, length| dice.text(WORD, length);
    match kind {
        "KEY" => {
            let (prefix, alphabet, length) = KEYS[dice.next(KEYS.len())];
            let key = format!("{prefix}{}", dice.text(alphabet, length));
            (format!("with {key}, which"), key)
        }
        "JWT" => {
            let token = format!("eyJ{}.eyJ{}.{}", word(dice, 30), word(dice, 80), word(dice, 43));
            (format!("jwt={token}"), token)
        }
        "bearer" => {
            let length = 16 + dice.next(40);
            let token = word(dice, length);
            (format!("curl -H 'Authorization: Bearer {token}' https://example.org"), token)
        }
        "basic" => {
            use base64::Engine as _;
            let plain = format!("{}:{}", word(dice, 6), word(dice, 9));
            let token = base64::engine::general_purpose::STANDARD.encode(plain);
            (format!("authorization: Basic {token}"), token)
        }
        "URL" => {
            let length = 4 + dice.next(12);
            let password = word(dice, length);
            let scheme = ["https", "postgres", "redis", "amqp", "mongodb+srv"][dice.next(5)];
            (format!("{scheme}://{}:{password}@db.example.com:5432/x?y=1", word(dice, 5)), password)
        }
        "PEM" => {
            let key = word(dice, 64);
            let name = ["PRIVATE KEY", "RSA PRIVATE KEY", "EC PRIVATE KEY", "OPENSSH PRIVATE KEY"][dice.next(4)];
            (format!("-----BEGIN {name}-----\n{key}\n{key}\n-----END {name}-----\n"), key)
        }
        "assigned" => {
            let name = ["password", "passwd", "PASSWORD", "db_password"][dice.next(4)];
            let sign = ["=", ": ", " = ", "=\"", "': '"][dice.next(5)];
            let length = 6 + dice.next(8);
            let password = word(dice, length);
            (format!("x {name}{sign}{password}"), password)
        }
        other => panic!("{other}"),
    }
}

#[test]
fn each_form_of_a_secret_is_masked_in_text_json_and_json_in_text() {
    let mut dice = Dice(20);
    let mut sentences = Vec::new();
    for kind in ["KEY", "JWT", "bearer", "basic", "URL", "PEM", "assigned"] {
        for number in 0..400 {
            let (text, value) = in_text(kind, &mut dice);
            let line = match number % 3 {
                0 => json!({"a": 1, "text": text}),
                1 => json!([{"content": json!({"result": text}).to_string()}]),
                _ => json!({"log": format!("step {number}: {} done", json!({"result": text}))}),
            };
            sentences.push((line, vec![(kind.to_owned(), value)]));
        }
    }
    check(&sentences);
}

#[test]
fn each_field_for_secrets_and_each_way_to_type_one_is_masked() {
    let mut dice = Dice(7);
    let mut sentences = Vec::new();
    let names = [
        "password",
        "passwd",
        "new_password",
        "otp",
        "pin",
        "cvv",
        "token",
        "access_token",
        "refresh_token",
        "cookie",
        "set_cookie",
        "authorization",
        "secret",
        "client_secret",
        "api_key",
        "x_api_key",
        "private_key",
        "secret_access_key",
    ];
    for name in names {
        for number in 0..40 {
            let words: Vec<&str> = name.split('_').collect();
            let capital = |word: &&str| word[..1].to_uppercase() + &word[1..];
            let name = match number % 4 {
                0 => words.join("_"),
                1 => words.join("-").to_uppercase(),
                2 => words[0].to_owned() + &words[1..].iter().map(capital).collect::<String>(),
                _ => words.iter().map(capital).collect::<Vec<_>>().join("-"),
            };
            let value = dice.text(DIGITS, 3) + &dice.text(WORD, 5);
            sentences.push((json!({"a": [{name.clone(): value}]}), vec![(words.join(" "), value)]));
        }
    }
    for label in [
        "Password",
        "Your password *",
        "Passwort",
        "Mot de passe",
        "Contraseña",
        "Пароль",
        "密码",
        "One-time code",
        "PIN",
        "CVV",
    ] {
        for number in 0..20 {
            let value = dice.text(WORD, 9);
            let target = json!({"role": "textbox", "name": label});
            let line = match number % 4 {
                0 => {
                    json!({"type": "tool_call", "tool_name": "browser_type", "arguments": {"text": value}, "target": target})
                }
                1 => json!({"tool": "browser_type", "args": {"element": label, "ref": "e5", "text": value}}),
                2 => {
                    json!({"tool": "browser_fill_form", "args": {"fields": [{"name": label, "type": "textbox", "value": value}]}})
                }
                _ => {
                    json!({"method": "tools/call", "params": {"name": "t", "arguments": {"text": value}, "_meta": {"target": target}}})
                }
            };
            sentences.push((line, vec![(format!("typed into {label}"), value)]));
        }
    }
    check(&sentences);
}
