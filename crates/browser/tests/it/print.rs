//! Pages of a real Chromium as PDF.

use crate::soon;
use pipewright_browser::{Browser, Launch, Ready};

#[test]
#[ignore = "needs Chromium"]
fn a_page_is_printed_even_in_several_pieces() {
    let mut browser = Browser::start(&Launch::default()).unwrap();
    browser.navigate("data:text/html,<h1>Report</h1>", Ready::Parsed, soon()).unwrap();
    let short = browser.pdf(soon()).unwrap();
    assert!(short.starts_with(b"%PDF-") && short.trim_ascii_end().ends_with(b"%%EOF"));
    // Noise cannot be compressed.
    let page = "<canvas id=c width=900 height=900></canvas><script>
        const paint = c.getContext('2d'), noise = paint.createImageData(900, 900);
        for (let i = 0; i < noise.data.length; i++) noise.data[i] = Math.random() * 256;
        paint.putImageData(noise, 0, 0);</script>";
    browser.navigate(&format!("data:text/html,{page}"), Ready::Parsed, soon()).unwrap();
    let long = browser.pdf(soon()).unwrap();
    assert!(long.len() > 2 << 20, "{} bytes", long.len());
    assert!(long.starts_with(b"%PDF-") && long.trim_ascii_end().ends_with(b"%%EOF"));
}
