//! Screenshots in a real Chromium.

use crate::soon;
use pipewright_browser::{AddressRules, Browser, Launch, NumberColours, PictureArea, PictureFormat, Ready, Scope};

const FULL: PictureFormat = PictureFormat { is_jpeg: false, scale: 1.0 };

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
    let plain = browser.picture(PictureArea::Viewport, FULL, soon()).unwrap();
    let elements = browser.elements(Scope::Page, soon()).unwrap();
    assert_eq!(browser.show_numbers(&elements.items, NumberColours::Colours, soon()).unwrap(), 4, "{elements:?}");
    let numbered = browser.picture(PictureArea::Viewport, FULL, soon()).unwrap();
    assert_eq!(size(&plain), size(&numbered));
    assert_ne!(plain, numbered);
    let again = browser.elements(Scope::Page, soon()).unwrap();
    assert_eq!(again.items, elements.items, "the drawn numbers are not elements, and cover none");
    browser.hide_numbers(soon()).unwrap();
    assert_eq!(browser.picture(PictureArea::Viewport, FULL, soon()).unwrap(), plain);
    let whole = size(&browser.picture(PictureArea::Page, FULL, soon()).unwrap());
    assert!(whole.1 > 3000 && whole.1 > size(&plain).1, "{whole:?}");
    let small = PictureFormat { scale: 0.5, ..FULL };
    let half = size(&browser.picture(PictureArea::Viewport, small, soon()).unwrap());
    let full = size(&plain);
    assert!(full.0.abs_diff(half.0 * 2) <= 1 && full.1.abs_diff(half.1 * 2) <= 1, "{half:?} of {full:?}");
    let number = elements.items.iter().find(|one| one.name == "below").unwrap().index;
    let element = size(&browser.picture(PictureArea::Element(number), FULL, soon()).unwrap());
    assert!((30..100).contains(&element.0) && (10..40).contains(&element.1), "{element:?}");
    let jpeg = browser.picture(PictureArea::Viewport, PictureFormat { is_jpeg: true, ..FULL }, soon()).unwrap();
    assert!(jpeg.starts_with(&[0xff, 0xd8]), "{:?}", &jpeg[..4]);
}
