//! Names of fields: which fields hold secrets, typed text, or the description of what it is typed into.

use super::finding::Kind;
use pipewright_record::identifier::split;
use std::borrow::Cow;

/// The meaning of a field's value.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Field {
    Secret(Kind),
    /// Several secrets, each under its own name if they are an object.
    Secrets(Kind),
    /// A secret, or a piece of text from a model.
    Token,
    /// A phone number, in any form.
    Phone,
    /// The working folder of a shell, or a password.
    Folder,
    /// Typed or set text: a secret if the field it is typed into is one for secrets.
    Typed,
    /// Describes the field that something is typed into.
    Described,
    /// The element that a call acts on.
    Target,
    /// A call's arguments, or the place of the target in JSON-RPC.
    Arguments,
    Other,
}

/// The meaning of the field with this name, in any spelling.
pub(super) fn field(name: &str) -> Field {
    match &*name.to_ascii_lowercase() {
        "text" | "value" | "values" | "val" | "keys" => Field::Typed,
        "name" | "element" | "label" | "role" | "id" | "key" | "field" | "header" | "variable" | "selector"
        | "locator" | "xpath" | "css" | "path" | "ref" | "uid" | "placeholder" | "context" => Field::Described,
        "token" => Field::Token,
        "pwd" | "oldpwd" => Field::Folder,
        "target" => Field::Target,
        "arguments" | "args" | "edited_arguments" | "params" | "input" | "_meta" => Field::Arguments,
        "type" => Field::Described,
        _ => match secret(name) {
            Some(kind) if name.ends_with(['s', 'S']) && !name.ends_with("ss") => Field::Secrets(kind),
            Some(kind) => Field::Secret(kind),
            None if is_phone(name) => Field::Phone,
            None => Field::Other,
        },
    }
}

/// Words for passwords in names of fields and on forms. They also count as part of a longer word.
const PASSWORDS: &[&str] = &[
    "password",
    "passwd",
    "passphrase",
    "passcode",
    "passwort",
    "kennwort",
    "contraseña",
    "contrasena",
    "mot de passe",
    "motdepasse",
    "senha",
    "wachtwoord",
    "hasło",
    "lösenord",
    "adgangskode",
    "salasana",
    "heslo",
    "jelszó",
    "parola",
    "şifre",
    "пароль",
    "密码",
    "密碼",
    "パスワード",
    "비밀번호",
    "كلمة المرور",
    "סיסמה",
    "पासवर्ड",
    "mật khẩu",
    "kata sandi",
];

/// Words for one-time codes in questions to people, where [`secret_word`] does not find them.
const CODES: &[&str] = &[
    "2fa",
    "two-factor",
    "pass word",
    "geheimzahl",
    "sicherheitscode",
    "bestätigungscode",
    "одноразов",
    "код из смс",
    "код подтверждения",
    "code de vérification",
    "código de verificación",
    "验证码",
    "驗證碼",
    "認証コード",
    "인증번호",
];

/// Whether a sentence is about a password or a code, such as a question for one.
pub fn mentions_secret(text: &str) -> bool {
    let lower = text.to_lowercase();
    let words = split(text);
    let mut before = "".to_owned();
    let is_named = words.iter().any(|word| {
        let word = word.to_lowercase();
        let kind = secret_word(&before, &word);
        before = word;
        kind.is_some_and(|kind| kind == Kind::PASSWORD || kind == Kind::CODE)
    });
    is_named || PASSWORDS.iter().chain(CODES).any(|word| lower.contains(word))
}

/// The kind of secret that a form's label, or a name, describes.
pub(super) fn described(text: &str) -> Option<Kind> {
    // A longer text is not a name.
    const MAX_LEN: usize = 200;
    if text.len() > MAX_LEN {
        return None;
    }
    secret(&without_form_words(text)).or_else(|| is_password(&without_placeholders(text)).then_some(Kind::PASSWORD))
}

/// Whether an element of this role or type takes no text: "Show password" is a button.
pub(super) fn takes_no_text(role: &str) -> bool {
    ["button", "link", "heading", "label", "tab", "checkbox", "radio", "switch", "menuitem", "option", "img"]
        .iter()
        .any(|known| role.eq_ignore_ascii_case(known))
}

/// A field's name without the words for its form and place: "OTP input field in the login form".
fn without_form_words(text: &str) -> String {
    let words = split(text).into_iter().map(str::to_lowercase);
    let name = words.take_while(|word| !matches!(&**word, "in" | "on" | "of" | "for"));
    let is_form = |word: &String| matches!(&**word, "field" | "box" | "textbox" | "edit" | "entry" | "line");
    if text.contains('<') { String::new() } else { name.filter(|word| !is_form(word)).collect::<Vec<_>>().join(" ") }
}

fn is_password(text: &str) -> bool {
    let lower = text.to_lowercase();
    PASSWORDS.iter().any(|password| lower.contains(password))
}

/// The kind of secret in a field with this name: the name ends with a word for a secret, apart from words such as "new"
/// and "value".
pub(super) fn secret(name: &str) -> Option<Kind> {
    const MAX_LEN: usize = 100;
    // Text in angle brackets, such as a placeholder, does not describe the field.
    if name.len() < 3 || name.len() > MAX_LEN || name.contains('<') {
        return None;
    }
    let mut found = None;
    let mut before = String::new();
    for word in split(name) {
        let word = word.to_lowercase();
        match secret_word(&before, &word) {
            Some(kind) => found = Some(kind),
            None if is_neutral(&word) => {}
            None => found = None,
        }
        before = word;
    }
    found
}

/// A label without text in angle brackets, such as a placeholder.
fn without_placeholders(name: &str) -> Cow<'_, str> {
    if !name.contains('<') {
        return Cow::Borrowed(name);
    }
    let is_inner = |character: char| character.is_ascii_alphanumeric() || character == '_';
    let outside =
        |part: &str| part.trim_start_matches(is_inner).strip_prefix('>').map_or(part.to_owned(), str::to_owned);
    Cow::Owned(
        name.split('<')
            .enumerate()
            .map(|(index, part)| if index > 0 { outside(part) } else { part.to_owned() })
            .collect(),
    )
}

fn secret_word(before: &str, word: &str) -> Option<Kind> {
    let kind = match word {
        "pwd" | "passwords" => Kind::PASSWORD,
        "pass"
            if matches!(
                before,
                "" | "db" | "user" | "login" | "admin" | "root" | "smtp" | "ftp" | "wifi" | "proxy" | "http"
            ) =>
        {
            Kind::PASSWORD
        }
        "otp" | "totp" | "pin" | "tan" | "cvv" | "cvv2" | "cvc" | "cvc2" | "passkey" => Kind::CODE,
        "code" | "codes"
            if matches!(
                before,
                "time"
                    | "verification"
                    | "confirmation"
                    | "security"
                    | "auth"
                    | "login"
                    | "sms"
                    | "mfa"
                    | "2fa"
                    | "backup"
                    | "recovery"
                    | "unlock"
                    | "device"
            ) =>
        {
            Kind::CODE
        }
        // The other tokens are positions in a list or a job.
        "token"
            if !matches!(
                before,
                "page" | "next" | "continuation" | "cursor" | "sync" | "progress" | "stop" | "eos" | "bos" | "pad"
            ) =>
        {
            Kind::TOKEN
        }
        "jwt" | "authorization" | "authtoken" | "accesstoken" | "refreshtoken" | "idtoken" | "bearer" => Kind::TOKEN,
        "cookie" | "cookies" | "setcookie" | "jsessionid" | "phpsessid" => Kind::COOKIE,
        "secret" | "secrets" | "clientsecret" | "mnemonic" | "psk" => Kind::SECRET,
        "phrase" if matches!(before, "pass" | "seed" | "recovery") => Kind::SECRET,
        "answer" if before == "security" => Kind::SECRET,
        // In URLs that give access.
        "signature" if matches!(before, "amz" | "goog" | "access") => Kind::SECRET,
        "key" | "keys"
            if matches!(
                before,
                "api"
                    | "private"
                    | "secret"
                    | "access"
                    | "auth"
                    | "encryption"
                    | "signing"
                    | "master"
                    | "account"
                    | "consumer"
                    | "license"
                    | "deploy"
                    | "ssh"
                    | "hmac"
                    | "session"
                    | "shared"
            ) =>
        {
            Kind::KEY
        }
        "apikey" | "apikeys" | "privatekey" | "secretkey" | "accesskey" => Kind::KEY,
        _ if is_password(word) => Kind::PASSWORD,
        _ => return None,
    };
    Some(kind)
}

/// Whether this word at the end of a name does not change how secret the field is.
fn is_neutral(word: &str) -> bool {
    word.bytes().all(|byte| byte.is_ascii_digit())
        || matches!(
            word,
            "value"
                | "confirm"
                | "confirmation"
                | "again"
                | "repeat"
                | "new"
                | "old"
                | "current"
                | "hash"
                | "text"
                | "plain"
                | "raw"
                | "header"
                | "input"
                | "code"
                | "number"
                | "base64"
                | "b64"
                | "encrypted"
        )
}

/// Whether it is a name for a phone number.
pub(super) fn is_phone(name: &str) -> bool {
    split(name).iter().any(|word| {
        matches!(
            &*word.to_lowercase(),
            "phone"
                | "phones"
                | "telephone"
                | "tel"
                | "mobile"
                | "cell"
                | "cellphone"
                | "fax"
                | "whatsapp"
                | "msisdn"
                | "telefon"
                | "telefono"
                | "téléphone"
                | "teléfono"
                | "telefone"
                | "handy"
                | "phonenumber"
        )
    })
}
