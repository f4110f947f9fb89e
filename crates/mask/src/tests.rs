use super::*;
use proptest::prelude::*;
use std::fmt::Write as _;

fn masked(line: &str) -> String {
    String::from_utf8(Masker::new(Rules::default(), 512).line(line.as_bytes()).into_owned()).unwrap()
}

/// Each text with its masked form.
fn check(cases: &[(&str, &str)]) {
    for (line, expected) in cases {
        assert_eq!(masked(line), *expected, "{line}");
    }
}

#[test]
fn each_kind_is_found_in_text() {
    check(&[
        ("card 4111 1111 1111 1111, 4111.1111.1111.1111 4111-1111-1111-1111.", "card <CARD_1>, <CARD_1> <CARD_1>."),
        ("amex 378282246310005 maestro 501800000009", "amex <CARD_1> maestro <CARD_2>"),
        ("to GB29 NWBK 6016 1331 9268 19 or gb29nwbk60161331926819", "to <IBAN_1> or <IBAN_1>"),
        ("<Ann.Smith+x@mail.example.co.uk>, 'o'neil@example.com'", "<<EMAIL_1>>, '<EMAIL_2>'"),
        ("?to=ann%40example.com&x=1 ann&#64;example.com", "?to=<EMAIL_1>&x=1 <EMAIL_1>"),
        ("troy 9792000000000003, card=4111+1111+1111+1111", "troy <CARD_1>, card=<CARD_2>"),
        ("GB29.NWBK.6016.1331.9268.19 GB29+NWBK+6016+1331+9268+19", "<IBAN_1> <IBAN_1>"),
        ("+44 (0)20 7946 0018 and (555) 123-4567 x12, 030/1234567", "<PHONE_1> and <PHONE_2>, <PHONE_3>"),
        ("call me on 445 6271 tomorrow. Tel.: 1234567", "call me on <PHONE_1> tomorrow. Tel.: <PHONE_2>"),
        ("key sk-ant-api03-AbCdEfGhIjKlMnOpQrSt, AKIAIOSFODNN7EXAMPLE", "key <KEY_1>, <KEY_2>"),
        ("eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxIn0.c2lnbmF0dXJl!", "<JWT_1>!"),
        ("eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIx is cut off", "<JWT_1> is cut off"),
        ("https://hooks.slack.com/services/T00000000/B00000000/abcdefgh1", "https://<KEY_1>"),
        ("curl -H 'Authorization: Bearer abc123def' x", "curl -H 'Authorization: Bearer <TOKEN_1>' x"),
        ("authorization: basic YW5uOmh1bnRlcjI=", "authorization: basic <TOKEN_1>"),
        ("postgres://ann:hunter2@db:5432/x?y", "postgres://<CREDENTIALS_1>@db:5432/x?y"),
        (
            "password=hunter2&x=1 API_KEY: \"abcdef\" pin: 1234",
            "password=<PASSWORD_1>&x=1 API_KEY: \"<KEY_1>\" pin: <CODE_1>",
        ),
        ("Cookie: sid=1; theme=dark", "Cookie: <COOKIE_1>"),
        (&format!("Cookie: {}=1; theme=dark", "x".repeat(200)), "Cookie: <COOKIE_1>"),
        ("x -----BEGIN PRIVATE KEY-----\\nMIIB\\n-----END PRIVATE KEY----- y", "x <PRIVATE_KEY_1> y"),
    ]);
}

#[test]
fn each_form_of_assigned_secret_is_found() {
    check(&[
        ("DB_PASSWORD=Xk9(m;P2!q\nUSER=ann", "DB_PASSWORD=<PASSWORD_1>\nUSER=ann"),
        (r#"docker run -e "DB_PASSWORD=a&b" x"#, r#"docker run -e "DB_PASSWORD=<PASSWORD_1>" x"#),
        (
            "user[password]=hunter2&x=1 user%5Btoken%5D=abc1",
            "user[password]=<PASSWORD_1>&x=1 user%5Btoken%5D=<TOKEN_1>",
        ),
        ("os.environ['API_KEY'] = 'abc123'", "os.environ['API_KEY'] = '<KEY_1>'"),
        ("{b'token': b'abc123def', 'password': u'x123'}", "{b'token': b'<TOKEN_1>', 'password': u'<PASSWORD_1>'}"),
        (":password => \"hunter2\"", ":password => \"<PASSWORD_1>\""),
        ("tool --password hunter2 --token 'abc 1'", "tool --password <PASSWORD_1> --token '<TOKEN_1>'"),
        ("machine x login ann password hunter2", "machine x login ann password <PASSWORD_1>"),
        ("Your password is 'hunter2'.", "Your password is '<PASSWORD_1>'."),
        ("Your verification code is: 123456. PIN 1234", "Your verification code is: <CODE_1>. PIN <CODE_2>"),
        ("<server><password>hunter2</password></server>", "<server><password><PASSWORD_1></password></server>"),
    ]);
}

#[test]
fn similar_text_is_not_masked() {
    for line in [
        "4111 1111 1111 1112, 41111111111111110000, 0.4111111111111111, x4111111111111111",
        "01 00 0 0000 and 0123456789",
        "00000000-0000-4000-8000-000000000001 84946267-cc4e-4852-a518-49692b749330",
        "2026-11-22T01:00:00.123456Z 22.11.2026 call 2026-11-22 at 192.168.100.200",
        "retina icon@2x.png, @playwright/mcp@0.0.30, @app.route, a@b",
        "call 100000 times, message 1234567 of 12345678",
        "https://example.com:8080/a@b ssh://git@example.com/x",
        "GB29 NWBK 6016 1331 9268 18 and XX29NWBK60161331926819",
        "foo@v1.2.3.tar.gz, pkg@1.2.3-beta.com, user@1000.service, sprite@1.5x.png, avatar@large.png",
        "100 200 3000, 512 000 0000",
        "called at 1700000000000",
        "password=$PASSWORD token=${TOKEN} password: ******** pin = 13 let password = get_password()",
        "--password STRING --token-file path1 <password>{password}</password> the password sha",
        "f\"password {words[2]}\"",
        "Bearer authentication and Basic understanding, Authorization: Bearer ${TOKEN}",
        "token: unexpected end of input; let token = token(); TOKEN: usize = 8; Token::Word, password: string",
        "sk-folding-cube-animation-container, task-0123456789abcdefghijkl",
        "{\"seed\":4111111111111111,\"password\":12345,\"ok\":true,\"cookie\":null,\"token\":\"\"}",
        "{\"token\":\"Hello\",\"is_final\":false,\"next_page_token\":\"abc\",\"password_hint\":\"a dog\",\"max_tokens\":\"7\"}",
        "{\"token\":\"Buying a lamp.\",\"is_final\":false,\"kind\":\"progress\",\"type\":\"assistant_message\"}",
        "{\"logprobs\":[{\"token\":\"Hello\",\"logprob\":-0.1}],\"token\":{\"text\":\"Hello\",\"logprob\":-0.1}}",
        "{\"role\":\"button\",\"name\":\"Show password\",\"value\":\"off\",\"headers\":{\"Authorization\":\"Bearer ${TOKEN}\"}}",
        "[[\"user\",\"password\",\"token\"],[\"password\",\"password2\"],[\"pin\",\"code\"]]",
        "{\"properties\":{\"password\":{\"type\":\"string\",\"description\":\"Yours\"}}}",
        "{\"arguments\":{\"element\":\"Search\",\"text\":\"hunter2\"}}",
    ] {
        assert_eq!(masked(line), line);
    }
}

#[test]
fn strings_are_searched_by_their_decoded_value() {
    check(&[
        (
            r#"{"a":"ann\u0040example.com","b":"https:\/\/a:b1@c\/"}"#,
            r#"{"a":"<EMAIL_1>","b":"https:\/\/<CREDENTIALS_1>@c\/"}"#,
        ),
        (r#"{"a":"{\"password\":\"x\\u0061\",\"n\":1.10}"}"#, r#"{"a":"{\"password\":\"<PASSWORD_1>\",\"n\":1.10}"}"#),
        (r#"{"a":"\"{\\\"otp\\\":\\\"123456\\\"}\""}"#, r#"{"a":"\"{\\\"otp\\\":\\\"<CODE_1>\\\"}\""}"#),
        (r#"{"a":"x\nann@example.com\ty \ud83d\ude00"}"#, r#"{"a":"x\n<EMAIL_1>\ty \ud83d\ude00"}"#),
        (r#"{"p\u0061ssword":"a\"b"}"#, r#"{"p\u0061ssword":"<PASSWORD_1>"}"#),
        (r#"{"ann@example.com":{"é":"ünï"}}"#, r#"{"<EMAIL_1>":{"é":"ünï"}}"#),
        (
            r#"log: {"password":"hunter2","to":"ann\u0040example.com""#,
            r#"log: {"password":"<PASSWORD_1>","to":"<EMAIL_1>""#,
        ),
        (r#"log: "{\"password\":\"hunter2\"}" torn"#, r#"log: "{\"password\":\"<PASSWORD_1>\"}" torn"#),
        ("\"ann@example.com\"", "\"<EMAIL_1>\""),
    ]);
}

#[test]
fn digits_of_other_scripts_and_invisible_characters_do_not_hide_values() {
    check(&[
        ("４１１１１１１１１１１１１１１１", "<CARD_1>"),
        ("٤١١١١١١١١١١١١١١١", "<CARD_1>"),
        ("4111\u{200b}1111\u{ad}11111111\u{200b}.", "<CARD_1>\u{200b}."),
        ("4111\u{a0}1111\u{2011}1111\u{2009}1111", "<CARD_1>"),
        ("ann＠example．com", "<EMAIL_1>"),
        (r#"{"a":"411\u200b1111111111111"}"#, r#"{"a":"<CARD_1>"}"#),
    ]);
}

#[test]
fn fields_are_recognised_by_name_in_any_spelling() {
    for (kind, names) in [
        (
            "PASSWORD",
            "password Password PASSWORD userPassword user-password new_password passwordConfirmation password2 passwd \
             pwd db_pass contraseña",
        ),
        ("CODE", "otp OTP pin cardPin otp-code verification_code cvv cvv2 backup_code"),
        ("TOKEN", "token accessToken ACCESS_TOKEN refresh-token csrf_token Authorization proxy-authorization jwt"),
        ("COOKIE", "cookie Cookie cookies set-cookie SetCookie JSESSIONID"),
        ("SECRET", "secret client_secret clientSecret seed_phrase mnemonic X-Amz-Signature"),
        ("KEY", "api_key apiKey API-KEY x-api-key private_key apikey secretAccessKey"),
    ] {
        for name in names.split(' ') {
            assert_eq!(masked(&format!(r#"{{"{name}":"abc"}}"#)), format!(r#"{{"{name}":"<{kind}_1>"}}"#));
        }
    }
    check(&[
        (
            r#"{"cookie":["a=b","c=d"],"authorization":"Bearer abc"}"#,
            r#"{"cookie":["<COOKIE_1>","<COOKIE_2>"],"authorization":"Bearer <TOKEN_1>"}"#,
        ),
        (
            r#"{"cookies":[{"name":"sid","value":"abc","sameSite":"Lax"}]}"#,
            r#"{"cookies":[{"name":"sid","value":"<COOKIE_1>","sameSite":"Lax"}]}"#,
        ),
        (
            r#"[{"name":"X-Api-Key","value":"abc"},{"name":"Accept","value":"abc"}]"#,
            r#"[{"name":"X-Api-Key","value":"<KEY_1>"},{"name":"Accept","value":"abc"}]"#,
        ),
        (
            r#"{"cookies":{"sid":"abc","a":1},"secrets":{"db":"x"},"properties":{"cookies":{"type":"array","items":{"type":"string"}}}}"#,
            r#"{"cookies":{"sid":"<COOKIE_1>","a":1},"secrets":{"db":"<SECRET_1>"},"properties":{"cookies":{"type":"array","items":{"type":"string"}}}}"#,
        ),
        (
            r#"[["Authorization","Bearer abc"],["X-Api-Key","abc1"],["Accept","a/b1"]]"#,
            r#"[["Authorization","Bearer <TOKEN_1>"],["X-Api-Key","<KEY_1>"],["Accept","a/b1"]]"#,
        ),
        (r#"["login","--password","hunter2"]"#, r#"["login","--password","<PASSWORD_1>"]"#),
        (r#"{"Name":"Password","Value":"abc"}"#, r#"{"Name":"Password","Value":"<PASSWORD_1>"}"#),
        (r#"{"phone":"445 6271","homePhone":"1234567"}"#, r#"{"phone":"<PHONE_1>","homePhone":"<PHONE_2>"}"#),
    ]);
}

#[test]
fn keys_of_further_providers_are_found() {
    // `*` stands for letters and digits, `#` for hexadecimal digits, `A` within a row of `^` for capitals and digits.
    for (form, lengths) in [
        ("ATATT*", [60, 0]),
        ("figd_*", [43, 0]),
        ("fm2_*", [60, 0]),
        ("sbp_#", [40, 0]),
        ("sb_secret_*", [31, 0]),
        ("pscale_tkn_*", [43, 0]),
        ("pscale_pw_*", [43, 0]),
        ("ntn_*", [46, 0]),
        ("secret_*", [43, 0]),
        ("NRAK-^", [27, 0]),
        ("sntrys_*", [90, 0]),
        ("sntryu_#", [64, 0]),
        ("glsa_*", [41, 0]),
        ("glc_*", [60, 0]),
        ("hvb.*", [90, 0]),
        ("*.atlasv1.*", [14, 67]),
        ("pul-#", [40, 0]),
        ("dp.pt.*", [43, 0]),
        ("dp.st.dev.*", [43, 0]),
        ("xkeysib-#-*", [64, 16]),
        ("#-us12", [32, 0]),
        ("SK#", [32, 0]),
        ("CFPAT-*", [43, 0]),
        ("dt0c01.^.^", [24, 64]),
        ("phx_*", [43, 0]),
        ("LTAI*", [20, 0]),
        ("AKID*", [32, 0]),
        ("1//0*", [60, 0]),
        ("amzn.oa2-cs.v1.*", [64, 0]),
        ("fw_*", [24, 0]),
        ("tgp_v1_*", [43, 0]),
        ("csk-*", [48, 0]),
        ("tvly-*", [32, 0]),
        ("fc-#", [32, 0]),
        ("jina_*", [60, 0]),
        ("sess-*", [40, 0]),
        ("nfp_*", [36, 0]),
        ("HRKU-*", [60, 0]),
        ("CLOJARS_#", [60, 0]),
        ("cio*", [32, 0]),
        ("oy2#", [43, 0]),
        ("dckr_oat_*", [32, 0]),
        ("AKCp*", [69, 0]),
        ("sqp_#", [40, 0]),
        ("sgp_#", [40, 0]),
        ("pnu_*", [36, 0]),
        ("pat*.#", [14, 64]),
        ("2/1200000000000001:#", [32, 0]),
        ("rdme_#", [70, 0]),
        ("shippo_live_#", [40, 0]),
        ("EZAK*", [54, 0]),
        ("MTk4NjIyNDgzNDcxOTI1MjQ4.Cl2FMQ.*", [27, 0]),
        ("EAAC*", [120, 0]),
        ("sha256~*", [43, 0]),
        ("access-sandbox-0123abcd-0123-4abc-8def-#", [12, 0]),
        ("abc8Q~*", [34, 0]),
        ("v1.0-#-#", [24, 146]),
        ("ico-*", [32, 0]),
        ("vcp_*", [40, 0]),
        ("rnd_*", [32, 0]),
        ("FLWSECK_TEST-#", [32, 0]),
    ] {
        let mut lengths = lengths.into_iter();
        let text = |alphabet: &str, length: usize| -> String {
            alphabet.chars().cycle().skip(3).step_by(7).take(length).collect()
        };
        let key: String = form
            .chars()
            .map(|one| match one {
                '*' => text("aB3cD9eF0gH1iJ5kL7mN2oP8qR4sT6uVwXyZ", lengths.next().unwrap()),
                '#' => text("0a1b2c3d4e5f6", lengths.next().unwrap()),
                '^' => text("A2B3C4D5E6F7G", lengths.next().unwrap()),
                other => other.to_string(),
            })
            .collect();
        assert_eq!(masked(&format!("with {key}, which")), "with <KEY_1>, which", "{key}");
    }
    check(&[(
        "https://a.blob.core.windows.net/b?sv=2026-02-06&sig=aB3cD9eF0gH1iJ5kL7mN2oP8qR4sT6uVwXyZ%2B8%3D&se=1",
        "https://a.blob.core.windows.net/b?sv=2026-02-06&sig=<SECRET_1>&se=1",
    )]);
}

#[test]
fn different_keys_of_an_object_stay_different() {
    check(&[
        (
            r#"{"a@b.co":1,"A@b.co":2,"A@B.co":3,"x":"a@b.co"}"#,
            r#"{"<EMAIL_1>":1,"<EMAIL_2>":2,"<EMAIL_3>":3,"x":"<EMAIL_1>"}"#,
        ),
        (r#"[{"a@b.co":1},{"A@b.co":2}]"#, r#"[{"<EMAIL_1>":1},{"<EMAIL_1>":2}]"#),
        (r#"{"+44 7700 900123":1,"+447700900123":2}"#, r#"{"<PHONE_1>":1,"<PHONE_2>":2}"#),
    ]);
}

#[test]
fn paths_are_no_secrets() {
    for line in [
        "PWD=/home/bob/work OLDPWD=/ pwd=/srv/app",
        r#"{"env":{"PWD":"/home/bob/work","OLDPWD":"/"},"pwd":"C:\\Users\\bob","cookies":"/home/bob/cookies2.txt"}"#,
        "TOKEN=/run/secrets/token1 yt --cookies /home/bob/cookies2.txt",
    ] {
        assert_eq!(masked(line), line);
    }
    check(&[
        ("pwd=hunter2 DB_PWD=/abc1", "pwd=<PASSWORD_1> DB_PWD=<PASSWORD_2>"),
        (r#"{"pwd":"abc"}"#, r#"{"pwd":"<PASSWORD_1>"}"#),
    ]);
}

#[test]
fn numbers_near_words_that_mostly_mean_something_else_are_no_phones() {
    for line in [
        "calls: 1234567, errors: 3; messages: 12345678; reach: 1234567",
        "Call #1234567890 took 12 ms; call 1234567890 took 12 ms",
        "Mozilla/5.0 (Linux; Android 14; Pixel 8 Build/UD1A.230803.041) Chrome/131.0.6778.85 Mobile Safari/537.36",
        "Mozilla/5.0 (iPhone; CPU iPhone OS 17_5_1 like Mac OS X) Version/17.5.1 Mobile/15E148 Safari/604.1",
        "The previous call returned order 998877665. The office of building 12 345678 burnt",
        "pids 1234 5678 9012 3456",
        "PASS: gdb.base/a1.exp: x, pass=12 fail=0",
        "ads reach 1 000 000 users; 12 345678 calls",
    ] {
        assert_eq!(masked(line), line);
    }
    check(&[
        ("my cell is 445 6271; 24 644270 office", "my cell is <PHONE_1>; <PHONE_2> office"),
        ("Mobile: 1234567", "Mobile: <PHONE_1>"),
    ]);
}

#[test]
fn text_typed_into_a_password_field_is_masked() {
    check(&[
        (
            r#"{"type":"tool_call","arguments":{"text":"hunter2"},"target":{"role":"textbox","name":"Passwort"}}"#,
            r#"{"type":"tool_call","arguments":{"text":"<PASSWORD_1>"},"target":{"role":"textbox","name":"Passwort"}}"#,
        ),
        (
            r#"{"target":{"name":"Your password","value":"hunter2"},"tool":"type","args":{"text":"hunter2","submit":true}}"#,
            r#"{"target":{"name":"Your password","value":"<PASSWORD_1>"},"tool":"type","args":{"text":"<PASSWORD_1>","submit":true}}"#,
        ),
        (
            r#"{"method":"tools/call","params":{"name":"browser_type","arguments":{"text":"hunter2"},"_meta":{"target":{"name":"PIN"}}}}"#,
            r#"{"method":"tools/call","params":{"name":"browser_type","arguments":{"text":"<CODE_1>"},"_meta":{"target":{"name":"PIN"}}}}"#,
        ),
        (
            r#"{"tool":"browser_type","args":{"element":"密码","text":"hunter2"}}"#,
            r#"{"tool":"browser_type","args":{"element":"密码","text":"<PASSWORD_1>"}}"#,
        ),
        (
            r#"{"tool":"browser_type","args":{"element":"OTP input field in the form","text":"123987"}}"#,
            r#"{"tool":"browser_type","args":{"element":"OTP input field in the form","text":"<CODE_1>"}}"#,
        ),
        (
            r#"{"cmd":"type_text","args":{"path":"LineEdit:placeholder(\"Password\")","text":"hunter2"}}"#,
            r#"{"cmd":"type_text","args":{"path":"LineEdit:placeholder(\"Password\")","text":"<PASSWORD_1>"}}"#,
        ),
        (
            r##"{"tool":"fill","args":{"fields":[{"name":"User","value":"ann"},{"type":"password","value":"hunter2"},{"selector":"#password","value":"x"}]}}"##,
            r##"{"tool":"fill","args":{"fields":[{"name":"User","value":"ann"},{"type":"password","value":"<PASSWORD_1>"},{"selector":"#password","value":"<PASSWORD_2>"}]}}"##,
        ),
    ]);
}

#[test]
fn playwrights_output_about_a_password_field_is_masked() {
    check(&[
        (
            "await page.getByRole('textbox', { name: 'Password' }).fill('hunt\\'er2');\nawait \
             page.getByLabel('User').fill('ann');",
            "await page.getByRole('textbox', { name: 'Password' }).fill('<PASSWORD_1>');\nawait \
             page.getByLabel('User').fill('ann');",
        ),
        (
            "await page.fill('#password', 'hunter2');\ndocument.querySelector('#password').value = 'hunter2'",
            "await page.fill('#password', '<PASSWORD_1>');\ndocument.querySelector('#password').value = '<PASSWORD_1>'",
        ),
        (
            "- textbox \"Password\" [ref=e7]:\n  - /placeholder: Yours\n  - text: hunter2\n- textbox \"User\" \
             [ref=e8]:\n  - text: ann",
            "- textbox \"Password\" [ref=e7]:\n  - /placeholder: Yours\n  - text: <PASSWORD_1>\n- textbox \"User\" \
             [ref=e8]:\n  - text: ann",
        ),
        (
            r##"{"text":"await page.locator('#password').pressSequentially('hunter2');\n- textbox \"User\" [ref=e6]: ann\n  - textbox \"Passwort\" [active] [ref=e7]: hunter2\n"}"##,
            r##"{"text":"await page.locator('#password').pressSequentially('<PASSWORD_1>');\n- textbox \"User\" [ref=e6]: ann\n  - textbox \"Passwort\" [active] [ref=e7]: <PASSWORD_1>\n"}"##,
        ),
    ]);
}

#[test]
fn the_same_value_has_the_same_placeholder_in_all_lines() {
    let mut masker = Masker::new(Rules::default(), 512);
    for (line, expected) in [
        (
            r#"{"a":"ann@example.com","token":"ghp_0123456789abcdefghij0123456789abcdef"}"#,
            r#"{"a":"<EMAIL_1>","token":"<TOKEN_1>"}"#,
        ),
        ("bob@example.com ANN@EXAMPLE.COM", "<EMAIL_2> <EMAIL_1>"),
        ("ghp_0123456789abcdefghij0123456789abcdef", "<TOKEN_1>"),
        ("tel. +49 30 901820, +4930901820", "tel. <PHONE_1>, <PHONE_1>"),
    ] {
        assert_eq!(*masker.line(line.as_bytes()), *expected.as_bytes());
    }
}

#[test]
fn a_text_that_looks_like_a_placeholder_is_escaped() {
    check(&[
        ("<EMAIL_1> <_EMAIL_1> <NAME_1> <EMAIL> ann@example.com", "<_EMAIL_1> <_EMAIL_1> <NAME_1> <EMAIL> <EMAIL_1>"),
        (
            r#"{"password":"<PASSWORD_1>","a":"\u003cCARD_7\u003e"}"#,
            r#"{"password":"<_PASSWORD_1>","a":"<_CARD_7\u003e"}"#,
        ),
        (r#"{"password":"<_PASSWORD_1>"}"#, r#"{"password":"<_PASSWORD_1>"}"#),
        ("password=\"<PASSWORD_1>\"", "password=\"<_PASSWORD_1>\""),
    ]);
}

#[test]
fn a_private_key_is_found_over_several_lines_of_text() {
    let mut masker = Masker::new(Rules::default(), 512);
    let mut line = |line: &str| String::from_utf8(masker.line(line.as_bytes()).into_owned()).unwrap();
    assert_eq!(line("cat -----BEGIN RSA PRIVATE KEY-----"), "cat <PRIVATE_KEY_1>");
    assert_eq!(line("Proc-Type: 4,ENCRYPTED"), "<PRIVATE_KEY_2>");
    assert_eq!(line(""), "");
    assert_eq!(line("MIIEpAIBAAKCAQEA+/="), "<PRIVATE_KEY_3>");
    assert_eq!(line("{\"json\":\"between\"}"), "{\"json\":\"between\"}");
    assert_eq!(line("-----END RSA PRIVATE KEY-----"), "<PRIVATE_KEY_4>");
    assert_eq!(line("MIIEpAIBAAKCAQEA"), "MIIEpAIBAAKCAQEA");
    assert_eq!(line("-----BEGIN CERTIFICATE-----"), "-----BEGIN CERTIFICATE-----");
}

#[test]
fn a_private_key_is_found_behind_prefixes_and_in_fields_of_several_lines() {
    let body = "MIIEpAIBAAKCAQEAwJ1vSd9aPkQ2uX3bN8sYt5rL0mV7cZ4fGhE6iWoTqB1yDxKj";
    for (first, rest) in [
        (
            "app  | -----BEGIN RSA PRIVATE KEY-----",
            vec!["app  | BODY", "app  | Zg==", "app  | -----END RSA PRIVATE KEY-----"],
        ),
        (
            "2026-11-27T10:00:01Z -----BEGIN PRIVATE KEY-----",
            vec!["2026-11-27T10:00:02Z BODY", "2026-11-27T10:00:12Z Zg=="],
        ),
        ("+-----BEGIN EC PRIVATE KEY-----", vec!["+BODY", "+Zg==", "+-----END EC PRIVATE KEY-----"]),
        ("  key = \"-----BEGIN PRIVATE KEY-----\\n\" +", vec!["  key = \"BODY\\n\" +", "        \"BODY\\n\""]),
        (
            "---- BEGIN SSH2 ENCRYPTED PRIVATE KEY ----",
            vec!["Comment: \"ann\"", "BODY", "---- END SSH2 ENCRYPTED PRIVATE KEY ----"],
        ),
        ("Private-Lines: 2", vec!["BODY", "BODY"]),
        (
            r#"{"n":1,"text":"-----BEGIN PRIVATE KEY-----"}"#,
            vec![r#"{"n":2,"text":"BODY"}"#, r#"{"n":3,"text":"Zg=="}"#],
        ),
        (
            r#"{"chunk":"x\n-----BEGIN PRIVATE KEY-----\nMIIE"}"#,
            vec![r#"{"chunk":"BODY\nBODY\nZg==\n-----END PRIVATE KEY-----\nend"}"#],
        ),
        ("\u{1b}[32mapp | \u{1b}[0m-----BEGIN PRIVATE KEY-----", vec!["\u{1b}[32mapp | \u{1b}[0mBODY", "app | Zg=="]),
        (r#"["-----BEGIN PRIVATE KEY-----","BODY","Zg==","-----END PRIVATE KEY-----"]"#, vec![]),
    ] {
        let mut masker = Masker::new(Rules::default(), 512);
        for line in [first].iter().chain(&rest) {
            let masked = masker.line(line.replace("BODY", body).as_bytes()).into_owned();
            let masked = String::from_utf8(masked).unwrap();
            assert!(
                masked.contains("<PRIVATE_KEY_") && !masked.contains("MIIE") && !masked.contains("Zg=="),
                "{first}: {masked}"
            );
        }
    }
}

#[test]
fn other_lines_between_those_of_a_private_key_are_kept() {
    let mut masker = Masker::new(Rules::default(), 512);
    let mut line = |line: &str| String::from_utf8(masker.line(line.as_bytes()).into_owned()).unwrap();
    line("app | -----BEGIN PRIVATE KEY-----");
    for other in ["web | GET /index.html 200", r#"{"dir":"out","text":"ok"}"#, "", "app | ready to serve"] {
        assert_eq!(line(other), other);
    }
    line("app | -----END CERTIFICATE-----");
    assert!(line("app | MIIEpAIBAAKCAQEAwJ1vSd9aPkQ2uX3bN8sYt5rL0mV7cZ4f").contains("<PRIVATE_KEY_"));
    line("app | -----END PRIVATE KEY-----");
    assert_eq!(
        line("app | MIIEpAIBAAKCAQEAwJ1vSd9aPkQ2uX3bN8sYt5rL0mV7cZ4f"),
        "app | MIIEpAIBAAKCAQEAwJ1vSd9aPkQ2uX3bN8sYt5rL0mV7cZ4f"
    );
}

#[test]
fn keys_of_several_programs_and_directions_do_not_end_each_other() {
    let body = "MIIEpAIBAAKCAQEAwJ1vSd9aPkQ2uX3bN8sYt5rL0mV7cZ4fGhE6iWoTqB1yDxKj";
    for [one, other] in [
        ["a1 | TEXT", "b2 | TEXT"],
        [r#"{"dir":"in","text":"TEXT"}"#, r#"{"dir":"out","text":"TEXT"}"#],
        [r#"{"a":"TEXT"}"#, r#"{"b":"TEXT"}"#],
    ] {
        let mut masker = Masker::new(Rules::default(), 512);
        let mut line = |form: &str, text: &str| {
            String::from_utf8(masker.line(form.replace("TEXT", text).as_bytes()).into_owned()).unwrap()
        };
        line(one, "-----BEGIN PRIVATE KEY-----");
        line(other, "-----BEGIN PRIVATE KEY-----");
        line(other, "-----END PRIVATE KEY-----");
        assert!(!line(one, body).contains("MIIE"), "{one}");
    }
}

#[test]
fn a_sentence_about_a_private_key_begins_none() {
    let mut masker = Masker::new(Rules::default(), 512);
    for line in [
        "expected -----BEGIN RSA PRIVATE KEY-----, got nothing",
        "OK",
        "continue",
        "commit 4f3e0aab1c2d3e4f5a6b7c8d9e0f1a2b3c4d5e6f",
        "/usr/share/doc/pythonthree/examples/tools/scripts",
    ] {
        assert_eq!(*masker.line(line.as_bytes()), *line.as_bytes());
    }
}

const GITHUB: &str = "ghp_0123456789abcdefghij0123456789abcdef";

#[test]
fn control_sequences_do_not_hide_values() {
    for before in [
        "\u{1b}[32m",
        "\u{1b}[1;38;5;12m",
        "\u{1b}[38:2::1:2:3m",
        "\u{1b}[K",
        "\u{1b}(B",
        "\u{9b}1m",
        "\u{1b}]0;title\u{7}",
        "\u{1b}]8;;https://example.com/\u{1b}\\",
        "INFO\u{1b}[0m",
        "^[[?25h",
        "#033[2J",
        "^[[38;2;255;255;255;48;2;100;100;100m",
        "\u{1b}",
        "^[[32m",
        "\\e[32m",
        "\\033[1;32m",
        "\\x1b[32m",
        "#033[32m",
        "[32m",
        "\u{241b}[32m",
    ] {
        for text in [
            format!("{before}{GITHUB}\u{1b}[0m end"),
            serde_json::json!({"t": format!("{before}{GITHUB}\u{1b}[0m")}).to_string(),
            format!(r#"{{"t":"{before}{GITHUB}"}} torn"#),
        ] {
            let masked = masked(&text);
            assert!(masked.contains("<KEY_1>") && !masked.contains("0123456789"), "{text}: {masked}");
        }
    }
    check(&[
        ("\u{1b}[32mGHP\u{1b}[0m", "\u{1b}[32mGHP\u{1b}[0m"),
        ("gh\u{1b}[1;31mp_0123456789\u{1b}[0mabcdefghij0123456789abcdef", "<KEY_1>"),
        ("\u{1b}[32m4111 1111 1111 1111\u{1b}[0m", "\u{1b}[32m<CARD_1>\u{1b}[0m"),
        (
            "\u{1b}[1;34m\"password\"\u{1b}[0m\u{1b}[1;39m:\u{1b}[0;32m\"hunter2\"\u{1b}[0m",
            "\u{1b}[1;34m\"password\"\u{1b}[0m\u{1b}[1;39m:\u{1b}[0;32m\"<PASSWORD_1>\"\u{1b}[0m",
        ),
        (
            "\u{1b}]8;;https://ann:hunter2@example.com/\u{1b}\\link\u{1b}]8;;\u{1b}\\",
            "\u{1b}]8;;https://<CREDENTIALS_1>/\u{1b}\\link\u{1b}]8;;\u{1b}\\",
        ),
        ("a[1m] = [0], x[0Kb]", "a[1m] = [0], x[0Kb]"),
    ]);
}

#[test]
fn encodings_do_not_hide_values() {
    for text in [
        format!("GET /cb?next=https%3A%2F%2Fy%3Ft%3D{GITHUB}"),
        format!("GET /cb?next=https%253A%252F%252Fy%253Ft%253D{GITHUB}"),
        format!("https://example.com/?x=3D{GITHUB}&y=3D1"),
        format!("x=3D1 {}=\r\n{}", &GITHUB[..20], &GITHUB[20..]),
        format!("&lt;a href=&#34;/?t&#x3D;{GITHUB}&quot;&gt;"),
        format!("'\\x67{}'", &GITHUB[1..]),
        format!("'\\147{}'", &GITHUB[1..]),
        format!("%u0067{}", &GITHUB[1..]),
        base64::Engine::encode(&base64::engine::general_purpose::STANDARD, format!("{{\"t\":\"{GITHUB}\"}}")),
        base64::Engine::encode(&base64::engine::general_purpose::URL_SAFE_NO_PAD, format!("t?~{GITHUB}")),
        base64::Engine::encode(
            &base64::engine::general_purpose::STANDARD,
            format!("t {GITHUB}").encode_utf16().flat_map(u16::to_le_bytes).collect::<Vec<u8>>(),
        ),
    ] {
        for text in [text.clone(), serde_json::json!({ "a": [text] }).to_string()] {
            let masked = masked(&text);
            assert!(masked.contains("<KEY_1>") && !masked.contains("56789abcdef"), "{text}: {masked}");
        }
    }
    check(&[
        (
            "oauth_token%3Dsecret5five%26client_password%3Dsecret6",
            "oauth_token%3D<TOKEN_1>%26client_password%3D<PASSWORD_1>",
        ),
        ("q=%7B%22password%22%3A%22hunt%C3%A9r2%22%7D", "q=%7B%22password%22%3A%22<PASSWORD_1>%22%7D"),
        (
            "{&quot;password&quot;:&quot;hunter2&quot;,&quot;n&quot;:1}",
            "{&quot;password&quot;:&quot;<PASSWORD_1>&quot;,&quot;n&quot;:1}",
        ),
        ("?to=ann%2540example.com&commat;", "?to=<EMAIL_1>&commat;"),
        ("name=Ann&card=4111+1111+1111+1111&x=1", "name=Ann&card=<CARD_1>&x=1"),
        ("phone=%2B44+7700+900123&x=1+2", "phone=<PHONE_1>&x=1+2"),
        ("password&#61;hunter2&QUOT;, ann&#64example.com", "password&#61;<PASSWORD_1>&QUOT;, <EMAIL_1>"),
        ("&quotpassword&quot:&quothunter2&quot", "&quotpassword&quot:&quot<PASSWORD_1>&quot"),
        ("x=a+b; y=1+2+3; a&b && c&&d; 4111+1111", "x=a+b; y=1+2+3; a&b && c&&d; 4111+1111"),
        ("100%25 of 5%20items &lt;EMAIL_1&gt; a=b&amp;c", "100%25 of 5%20items &lt;EMAIL_1&gt; a=b&amp;c"),
        ("dGhpcyBpcyBoYXJtbGVzcyB0ZXh0Cg==", "dGhpcyBpcyBoYXJtbGVzcyB0ZXh0Cg=="),
    ]);
}

#[test]
fn what_cannot_be_searched_is_counted() {
    let unread = |line: &[u8]| {
        let mut masker = Masker::new(Rules::default(), 512);
        assert_eq!(*masker.line(line), *line);
        masker.unread()
    };
    let picture: Vec<u8> =
        [&b"\x89PNG\r\n\x1a\n"[..], &(0..200u32).map(|n| (n * n * 7 % 251) as u8).collect::<Vec<u8>>()].concat();
    let encoded = base64::Engine::encode(&base64::engine::general_purpose::STANDARD, &picture);
    assert_eq!(unread(format!(r#"{{"type":"image","data":"{encoded}"}}"#).as_bytes()), 1);
    assert_eq!(unread(format!("<img src=\"data:image/png;base64,{encoded}\">").as_bytes()), 1);
    assert_eq!(unread(&picture), 1);
    assert_eq!(unread(&"password=x".encode_utf16().flat_map(u16::to_le_bytes).collect::<Vec<u8>>()), 1);
    let nested = (0..12).fold("a\"".to_owned(), |text, _| serde_json::Value::from(text).to_string());
    assert_eq!(unread(nested.as_bytes()), 1);
    for line in [
        "caf\u{e9}".as_bytes(),
        b"caf\xe9 and gr\xfc\xdfe aus K\xf6ln",
        "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855".repeat(2).as_bytes(),
        format!("/{}", "usr/lib/Node_modules-2/".repeat(9)).as_bytes(),
        br#"{"signature":"AbCdEf0123456789AbCdEf0123456789AbCdEf0123456789"}"#,
    ] {
        assert_eq!(unread(line), 0, "{}", String::from_utf8_lossy(line));
    }
}

#[test]
fn a_value_over_two_pieces_of_a_line_is_masked() {
    let line = format!(r#"{{"a":1,"k":"{GITHUB}","to":"ann@example.com"}}"#);
    for cut in 1..line.len() {
        let mut masker = Masker::new(Rules::default(), 512);
        let pieces = masker.pieces(line.as_bytes(), &[cut, line.len()]);
        assert_eq!(String::from_utf8(pieces.concat()).unwrap(), r#"{"a":1,"k":"<KEY_1>","to":"<EMAIL_1>"}"#);
    }
}

#[test]
fn invalid_utf8_is_kept_and_does_not_hide_values() {
    let mut masker = Masker::new(Rules::default(), 512);
    assert_eq!(
        *masker.line(b"{\"a\":\"\xb4\xf2\",\"password\":\"\xff\"}"),
        *b"{\"a\":\"\xb4\xf2\",\"password\":\"<PASSWORD_1>\"}"
    );
    assert_eq!(*masker.line(b"\xff ann@example.com \xfe"), *b"\xff <EMAIL_1> \xfe");
}

#[test]
fn rules_add_patterns_and_fields() {
    let rules = "[[rule]]\nname = 'CUSTOMER'\nregex = 'C-\\d{4}'\nfields = ['customer_id', 'Name']\n[[rule]]\nname = \
                 'PHONE'\nregex = '#\\d{3}'\n";
    let mut masker = Masker::new(Rules::read(rules).unwrap(), 512);
    let line = br#"{"customerId":"ann","a":"C-1234 <CUSTOMER_9> #555","NAME":"bob","n":7}"#;
    let expected =
        br#"{"customerId":"<CUSTOMER_1>","a":"<CUSTOMER_2> <_CUSTOMER_9> <PHONE_1>","NAME":"<CUSTOMER_3>","n":7}"#;
    assert_eq!(*masker.line(line), *expected);
    for (rules, why) in [
        ("[[rule]]\nname = 'A'\n\n[[rule]]\nname = 'B'", "1:1: rule \"A\": it masks nothing"),
        ("[[rule]]\nname = 'A'\nregex = '('", "1:1: rule \"A\": regex: "),
        ("[[rule]]\nname = 'A'\nregex = 'a*'", "it matches the empty text"),
        ("[[rule]]\nname = 'a b'\nregex = 'a'", "a name has up to 40 characters"),
        ("[[rule]]\nname = 'A'\nregx = 'a'", "3:1: unknown field `regx`"),
        ("rules = 1", "1:1: unknown field `rules`"),
    ] {
        let error = Rules::read(rules).unwrap_err();
        assert!(error.contains(why), "{error}");
    }
}

#[test]
fn values_beyond_the_table_limit_are_still_masked() {
    let mut table = Placeholders::new(Kind::NAMES.len());
    for number in 1..=Placeholders::MAX_DISTINCT {
        assert_eq!(table.of(Kind::EMAIL, &number.to_string()), (Kind::EMAIL, number as u32));
    }
    assert!(!table.is_full());
    assert_eq!(table.of(Kind::CARD, "x"), (Kind::CARD, 0));
    assert!(table.is_full());
    assert_eq!(table.of(Kind::CARD, "7"), (Kind::EMAIL, 7), "earlier placeholders are kept");
}

#[test]
fn no_input_takes_quadratic_time() {
    let long = |part: &str| part.repeat(400_000 / part.len());
    for part in [
        "a@",
        "1 ",
        "12 34 ",
        "http://a:",
        "password=",
        "password=x ",
        "password=(",
        "cookie:",
        "authorization: ",
        ".fill('",
        "phone 123456 ",
        "\\\\",
        "--password \\\"",
        "<password>",
        "[\"--pin\",",
        "PASSWORD=",
        "password is ",
        "\\u005cu005c",
        "<EMAIL_",
        "-----BEGIN RSA PRIVATE KEY-----",
        "eyJa.",
        "4111 ",
        "phone 1",
        "\u{1b}[0m",
        "%25",
        "&#38;",
        "=3D",
        "aGVsbG8gd29ybGQgYW5k/",
    ] {
        let started = std::time::Instant::now();
        masked(&long(part));
        masked(&format!("{{\"a\":\"{}\"}}", long(part)));
        assert!(started.elapsed().as_secs() < 60, "{part} took {:?}", started.elapsed());
    }
    masked(&format!("[{}]", long("[],")));
}

const VALUES: [&str; 12] = [
    "ann@example.com",
    "4111 1111 1111 1111",
    "GB29 NWBK 6016 1331 9268 19",
    "+44 7700 900123",
    "ghp_0123456789abcdefghij0123456789abcdef",
    "Bearer abc123def456",
    "https://a:b1@example.com/",
    "<EMAIL_1>",
    "<_CARD_2>",
    "{\"pin\":\"1234\"}",
    "\"ann@example.com\"",
    "４１１１１１１１１１１１１１１１",
];

/// Texts with and without values.
fn text() -> impl Strategy<Value = String> {
    let word = prop_oneof![
        3 => prop::sample::select(&VALUES[..]).prop_map(str::to_owned),
        2 => "[a-zé\"\\\\/\n ]{0,8}",
        1 => "[ -~]{0,12}",
    ];
    prop::collection::vec(word, 0..4).prop_map(|words| words.join(" , "))
}

fn json() -> impl Strategy<Value = serde_json::Value> {
    let leaf =
        prop_oneof![Just(serde_json::Value::Null), any::<i64>().prop_map(Into::into), text().prop_map(Into::into)];
    let key = prop_oneof![
        prop::sample::select(&["password", "text", "target", "name", "arguments", "token", "cookies", "a"][..])
            .prop_map(str::to_owned),
        text()
    ];
    leaf.prop_recursive(4, 24, 4, move |inner| {
        let nested = inner.clone().prop_map(|value| value.to_string().into());
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..4).prop_map(Into::into),
            prop::collection::btree_map(key.clone(), inner, 0..4).prop_map(|map| map.into_iter().collect()),
            nested,
        ]
    })
}

/// Rewrites each placeholder as a text that only looks like one.
fn escaped(line: &str) -> String {
    let mut out = String::new();
    for (index, part) in line.split('<').enumerate() {
        let name = part.split('>').next().unwrap_or_default();
        let is_placeholder = index > 0
            && part.contains('>')
            && name.rsplit_once('_').is_some_and(|(kind, number)| {
                Kind::NAMES.contains(&kind) && !number.is_empty() && number.bytes().all(|byte| byte.is_ascii_digit())
            });
        let _ = write!(out, "{}{}{part}", if index > 0 { "<" } else { "" }, if is_placeholder { "_" } else { "" });
    }
    out
}

proptest! {
    #[test]
    fn masked_json_is_still_json(value in json(), torn: prop::sample::Index) {
        // A number alone on its line is masked as text: `4111111111111111` becomes `<CARD_1>`, without quotes.
        prop_assume!(!value.is_number());
        let line = value.to_string();
        let masked = masked(&line);
        prop_assert!(serde_json::from_str::<serde_json::Value>(&masked).is_ok(), "{masked}");
        for value in &VALUES[..7] {
            // Values outside secret fields are found too.
            prop_assert!(!masked.contains(value) || *value == "Bearer abc123def456", "{line}: {masked}");
        }
        let half: String = line.chars().take(torn.index(line.len())).collect();
        let was = serde_json::from_str::<serde::de::IgnoredAny>(&half).is_ok();
        let is = serde_json::from_str::<serde::de::IgnoredAny>(&super::tests::masked(&half)).is_ok();
        prop_assert_eq!(was, is, "{}", half);
    }

    #[test]
    fn masking_again_finds_nothing(value in json()) {
        let once = masked(&value.to_string());
        let twice = masked(&once);
        prop_assert_eq!(&twice, &escaped(&once));
        prop_assert_eq!(masked(&twice), twice);
    }

    #[test]
    fn unmasked_text_is_kept_byte_for_byte(value in json()) {
        let line = value.to_string();
        let unread = Cell::new(0);
        let found = Search::new(&Rules::default(), 512, &unread).in_value(&line, false);
        let masked = masked(&line);
        let (mut rest, mut at) = (&*masked, 0);
        for finding in &found {
            rest = rest.strip_prefix(&line[at..finding.range.start]).unwrap();
            let end = if finding.kind == Kind::LOOKALIKE { 2 } else { rest.find('>').unwrap() + 1 };
            rest = &rest[end..];
            at = finding.range.end;
        }
        prop_assert_eq!(rest, &line[at..]);
    }

    #[test]
    fn any_bytes_are_masked_without_panic(line: Vec<u8>, text in "\\PC*") {
        let mut masker = Masker::new(Rules::default(), 512);
        masker.line(&line);
        masker.line(text.as_bytes());
        masker.text(&text);
    }

    #[test]
    fn lines_without_secrets_are_not_changed(words in prop::collection::vec("[a-z]{1,8}|[1-9][0-9]?|[0-9]\\.[0-9]{1,9}", 0..20)) {
        let line = words.join(" ");
        prop_assert_eq!(masked(&line), line);
    }
}

#[test]
fn sentences_about_passwords_and_codes_are_recognised() {
    for text in [
        "What is your password?",
        "Bitte PIN eingeben",
        "Which one-time code did you get?",
        "enter the SMS code",
        "Введите код подтверждения",
        "请输入验证码",
        "your OTP, please",
    ] {
        assert!(super::mentions_secret(text), "{text}");
    }
    for text in ["Which colour?", "Which postal code?", "Shall I open the shop?", "Which key of the keyboard?"] {
        assert!(!super::mentions_secret(text), "{text}");
    }
}
