//! Names of fields: which fields hold secrets, typed text, or the description of what it is typed into.

use super::finding::Kind;
use pipewright_record::identifier::split;

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
    FolderOrPassword,
    /// Typed or set text: a secret if the field it is typed into is one for secrets.
    Typed,
    /// Describes the field that something is typed into.
    Description,
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
        | "locator" | "xpath" | "css" | "path" | "ref" | "uid" | "placeholder" | "context" | "type" => {
            Field::Description
        }
        "token" => Field::Token,
        "pwd" | "oldpwd" => Field::FolderOrPassword,
        "target" => Field::Target,
        "arguments" | "args" | "edited_arguments" | "params" | "input" | "_meta" => Field::Arguments,
        _ => match secret_kind(name) {
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

/// More words for passwords and one-time codes in questions to people, which [`secret_word`] does not find.
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

/// Whether a text, such as a question to a person, mentions a password or a one-time code.
pub fn mentions_secret(text: &str) -> bool {
    let lower = text.to_lowercase();
    let mut before = String::new();
    let is_named = split(text).iter().any(|word| {
        let word = word.to_lowercase();
        let kind = secret_word(&before, &word);
        before = word;
        kind.is_some_and(|kind| kind == Kind::PASSWORD || kind == Kind::CODE)
    });
    is_named || PASSWORDS.iter().chain(CODES).any(|word| lower.contains(word))
}

/// The kind of secret that is typed into a field with this label or name.
pub(super) fn described_secret(text: &str) -> Option<Kind> {
    // A longer text does not name a field.
    const MAX_LEN: usize = 200;
    if text.len() > MAX_LEN {
        return None;
    }
    let has_password = || has_password_word(&without_placeholders(text));
    secret_kind(&without_form_words(text)).or_else(|| has_password().then_some(Kind::PASSWORD))
}

/// Whether an element of this role or type takes no text: "Show password" is a button.
pub(super) fn takes_no_text(role: &str) -> bool {
    ["button", "link", "heading", "label", "tab", "checkbox", "radio", "switch", "menuitem", "option", "img"]
        .iter()
        .any(|known| role.eq_ignore_ascii_case(known))
}

/// A label without the words for the field's form and place: `otp input` of "OTP input field in the login form". Empty
/// if it has text in angle brackets.
fn without_form_words(text: &str) -> String {
    if text.contains('<') {
        return String::new();
    }
    let words = split(text).into_iter().map(str::to_lowercase);
    let name = words.take_while(|word| !matches!(&**word, "in" | "on" | "of" | "for"));
    let is_form = |word: &String| matches!(&**word, "field" | "box" | "textbox" | "edit" | "entry" | "line");
    name.filter(|word| !is_form(word)).collect::<Vec<_>>().join(" ")
}

fn has_password_word(text: &str) -> bool {
    let lower = text.to_lowercase();
    PASSWORDS.iter().any(|password| lower.contains(password))
}

/// The kind of secret in a field with this name: the name ends with a word for a secret, apart from words such as "new"
/// and "value".
pub(super) fn secret_kind(name: &str) -> Option<Kind> {
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

/// A label without placeholders, such as `<PASSWORD_1>`.
fn without_placeholders(label: &str) -> String {
    fn after_placeholder(part: &str) -> &str {
        let is_inner = |character: char| character.is_ascii_alphanumeric() || character == '_';
        part.trim_start_matches(is_inner).strip_prefix('>').unwrap_or(part)
    }
    let mut parts = label.split('<');
    let before = parts.next().unwrap_or_default().to_owned();
    parts.fold(before, |text, part| text + after_placeholder(part))
}

/// The kind of secret that a word of a name stands for, after the word `before`, which is empty for the first word.
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
        // Tokens after these words are positions in a list, a job or a text.
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
        // Of signed URLs, which give access.
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
        _ if has_password_word(word) => Kind::PASSWORD,
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

/// Whether a field with this name holds a phone number.
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
