//! Screenshots in a real Chromium.

use crate::soon;
use pipewright_browser::{AddressRules, Browser, Launch, NumberColours, PictureArea, Ready, Scope};

/// Width and height from the header of a PNG.
fn size(png: &[u8]) -> (u32, u32) {
    assert!(png.starts_with(b"\x89PNG\r\n\x1a\n"), "{:?}", &png[..8]);
    let number = |at: usize| u32::from_be_bytes(png[at..at + 4].try_into().unwrap());
    (number(16), number(20))
}

#[test]
#[ignore = "needs Chromium"]
fn a_picture_has_the_numbers_of_the_list() {
    let place = tempfile::tempdir().unwrap();
    let path = place.path().join("page.html");
    let page = r#"<!doctype html><button>a</button><button>b</button><iframe srcdoc="<button>c</button>"></iframe>
        <dialog><button>d</button></dialog><div style="height:3000px"></div><button>below</button>
        <script>document.querySelector('dialog').showModal()</script>"#;
    std::fs::write(&path, page).unwrap();
    let mut browser =
        Browser::start(&Launch { allowed: AddressRules::default().file(place.path()).unwrap(), ..Launch::default() })
            .unwrap();
    browser.navigate(&format!("file://{}", path.display()), Ready::Parsed, soon()).unwrap();
    let plain = browser.picture(PictureArea::Viewport, soon()).unwrap();
    let elements = browser.elements(Scope::Page, soon()).unwrap();
    assert_eq!(browser.show_numbers(&elements.items, NumberColours::Colours, soon()).unwrap(), 4, "{elements:?}");
    let numbered = browser.picture(PictureArea::Viewport, soon()).unwrap();
    assert_eq!(size(&plain), size(&numbered));
    assert_ne!(plain, numbered);
    let again = browser.elements(Scope::Page, soon()).unwrap();
    assert_eq!(again.items, elements.items, "the drawn numbers are not elements, and cover none");
    browser.hide_numbers(soon()).unwrap();
    assert_eq!(browser.picture(PictureArea::Viewport, soon()).unwrap(), plain);
    let whole = size(&browser.picture(PictureArea::Page, soon()).unwrap());
    assert!(whole.1 > 3000 && whole.1 > size(&plain).1, "{whole:?}");
}
