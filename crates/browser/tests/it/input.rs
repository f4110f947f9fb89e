//! Acting on a page in a real Chromium, as a person does.

use crate::{evaluate, number, show_notes, soon};
use pipewright_browser::{ActionError, Chord, InputRefusal, Typing};
use serde_json::{Value, json};

#[test]
#[ignore = "needs Chromium"]
fn a_click_is_real_wherever_the_element_is() {
    let (mut browser, _place) = show_notes(
        r#"<button onclick="note('a ' + event.isTrusted)">a</button><div style="height:3000px"></div>
        <button onclick="note('below ' + event.isTrusted)">below</button><x-closed></x-closed>
        <iframe srcdoc="<button onclick=&quot;parent.log.push('framed')&quot;>framed</button>"></iframe>
        <label><input type=checkbox onchange="note('ticked')" style="position:absolute;opacity:0;pointer-events:none">tick</label>
        <script>
            const root = document.querySelector('x-closed').attachShadow({mode: 'closed'});
            root.innerHTML = '<button>closed</button>';
            root.firstChild.addEventListener('click', () => note('closed'));
        </script>"#,
    );
    for name in ["a", "below", "closed", "framed", "tick"] {
        let index = number(&mut browser, name);
        browser.click(index, soon()).unwrap_or_else(|refusal| panic!("{name}: {refusal}"));
    }
    assert_eq!(evaluate(&mut browser, "log"), json!(["a true", "below true", "closed", "framed", "ticked"]));
}

#[test]
#[ignore = "needs Chromium"]
fn what_cannot_be_clicked_is_not_and_what_is_in_the_way_is_named() {
    let (mut browser, _place) = show_notes(
        r#"<button disabled onclick="note('x')">off</button><button id=gone onclick="note('x')">gone</button>
        <div style="position:relative;width:200px"><button onclick="note('x')">under</button>
        <div id=cookies style="position:absolute;inset:0;background:red">We use cookies</div></div>
        <button onclick="confirm('sure?') && note('sure')">ask</button>"#,
    );
    let [off, gone, under, ask] = ["off", "gone", "under", "ask"].map(|name| number(&mut browser, name));
    evaluate(&mut browser, "gone.remove()");
    assert!(matches!(browser.click(off, soon()), Err(InputRefusal::Disabled)));
    assert!(matches!(browser.click(gone, soon()), Err(InputRefusal::Stale)));
    let covered = browser.click(under, soon()).unwrap_err().to_string();
    assert_eq!(covered, "div#cookies \"We use cookies\" is in the way");
    let asked = browser.click(ask, soon()).unwrap_err();
    assert!(matches!(&asked, InputRefusal::Fault(ActionError::Dialog(dialog)) if dialog.message == "sure?"), "{asked}");
    let _: Value = browser.call_page("Page.handleJavaScriptDialog", &json!({"accept": true}), soon()).unwrap();
    assert_eq!(evaluate(&mut browser, "log"), json!(["sure"]));
}

#[test]
#[ignore = "needs Chromium"]
fn text_in_any_script_is_typed_into_every_kind_of_text_field() {
    let (mut browser, _place) = show_notes(
        r#"<label>plain<input value=old oninput="note(event.isTrusted)"></label><label>long<textarea>one </textarea></label>
        <div contenteditable role=textbox aria-label=rich>old</div><label>day<input type=date></label>
        <label>volume<input type=range min=0 max=10></label><label>mail<input type=email value=a></label><button>no</button>
        <label>fixed<input readonly></label>"#,
    );
    let mut put = |name: &str, text: &str, typing: Typing| {
        let index = number(&mut browser, name);
        browser.type_text(index, text, typing, false, soon()).map(drop)
    };
    put("plain", "Привет 你好 🙂", Typing::Replace).unwrap();
    put("long", "two", Typing::Append).unwrap();
    put("rich", "new", Typing::Replace).unwrap();
    put("day", "2026-11-23", Typing::Replace).unwrap();
    put("volume", "7", Typing::Replace).unwrap();
    put("mail", "b@c", Typing::Append).unwrap();
    assert!(put("day", "tomorrow", Typing::Replace).unwrap_err().to_string().contains("date takes no \"tomorrow\""));
    assert!(matches!(put("no", "x", Typing::Replace), Err(InputRefusal::Unfit(_))));
    assert!(matches!(put("fixed", "x", Typing::Replace), Err(InputRefusal::Unfit(why)) if why.contains("read-only")));
    let values = "[...document.querySelectorAll('input, textarea')].map((one) => one.value)";
    let expected = json!(["Привет 你好 🙂", "one two", "", "7", "ab@c", ""]);
    assert_eq!(evaluate(&mut browser, values), expected);
    assert_eq!(evaluate(&mut browser, "document.querySelector('[contenteditable]').innerText"), "new");
    assert_eq!(evaluate(&mut browser, "log"), json!([true]));
    let plain = number(&mut browser, "plain");
    browser.type_text(plain, "", Typing::Replace, false, soon()).map(drop).unwrap();
    assert_eq!(evaluate(&mut browser, "document.querySelector('input').value"), "");
}

#[test]
#[ignore = "needs Chromium"]
fn options_are_selected_and_keys_pressed() {
    let (mut browser, _place) = show_notes(
        r#"<label>size<select onchange="note(value)"><option value=s>small<option value=l>very  large<option disabled>none</select></label>
        <form onsubmit="note('sent'); return false"><label>word<input></label></form>"#,
    );
    let size = number(&mut browser, "size");
    browser.choose(size, "very large", true, soon()).unwrap();
    browser.choose(size, "s", true, soon()).unwrap();
    let refused = browser.choose(size, "none", true, soon()).unwrap_err().to_string();
    assert_eq!(refused, "there is no such option, but \"small\", \"very large\"");
    let word = number(&mut browser, "word");
    browser.type_text(word, "ab", Typing::Replace, false, soon()).map(drop).unwrap();
    for key in ["c", "Backspace", "Shift+D", "Control+a", "Delete", "z", "Enter"] {
        browser.press(&Chord::read(key).unwrap(), soon()).unwrap();
    }
    assert_eq!(evaluate(&mut browser, "document.querySelector('input').value"), "z");
    assert_eq!(evaluate(&mut browser, "log"), json!(["l", "s", "sent"]));
}
