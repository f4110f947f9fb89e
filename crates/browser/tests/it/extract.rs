//! The readable text of pages in a real Chromium.

use crate::{show, soon};
use pipewright_browser::{Extract, Stats};

fn read(page: &str) -> Extract {
    let (mut browser, _place) = show(&format!("<title>Title</title>{page}"));
    browser.extract(soon()).unwrap()
}

#[test]
#[ignore = "needs Chromium"]
fn the_text_is_the_visible_part_and_the_summary_its_main_part() {
    let extract = read(
        r#"<header><nav><ul><li><a href=/a>Home</a><li><a href=/b>Blog</a></ul></nav></header>
        <main><h1>Ein  <em>Kessel</em></h1><p>Two <b>bold</b> words,<br>a second line.</p><p style="display:none">unseen</p>
        <p style="opacity:0">unseen</p><p style="visibility:hidden">unseen</p><script>unseen</script><!-- unseen -->
        <aside>Related</aside><ol start=3><li>three<ul><li>deep</ul><li>four</ol>
        <table><tr><th>Name<th>Price<tr><td>Kettle<td><p>10 €</p></table><pre>a  b
  c</pre><blockquote>said</blockquote><img alt=x><form><button>Buy</button><select><option>one<option selected>two</select></form>
        <details><summary>More</summary>unseen</details><x-part></x-part><h2>Страница</h2></main>
        <footer>Imprint</footer><div style="position:fixed;bottom:0">We use cookies</div><iframe srcdoc="<p>framed"></iframe>
        <iframe style="display:none" srcdoc="unseen"></iframe>
        <script>document.querySelector('x-part').attachShadow({mode: 'open'}).innerHTML = '<p>shadow</p>'</script>"#,
    );
    let main = "# Ein Kessel\nTwo bold words,\na second line.\n3. three\n  - deep\n4. four\nName | Price\nKettle | 10 €\na  b\n  c\n> said\nBuy two\nMore\nshadow\n## Страница";
    assert_eq!(extract.summary, main);
    let all = main.replace("3. three", "Related\n3. three");
    assert_eq!(extract.text, format!("- Home\n- Blog\n{all}\nImprint\nWe use cookies\nframed"));
    assert_eq!((extract.title.as_str(), extract.url.ends_with("/page.html"), extract.is_cut), ("Title", true, false));
    let expected = Stats { links: 2, headings: 2, images: 1, forms: 1, ..extract.stats };
    assert_eq!(extract.stats, expected);
    assert_eq!((extract.stats.characters, extract.stats.words), (extract.text.chars().count(), 43));
    assert_eq!(extract.piece(2, 4), "Home");
    assert_eq!(extract.piece(0, usize::MAX), extract.text);
    assert_eq!(extract.piece(1_000_000, 5), "");
}

#[test]
#[ignore = "needs Chromium"]
fn a_page_without_a_main_part_has_a_summary_too_cut_at_a_word() {
    let extract = read(&format!("<nav>Menu</nav><div style='display:grid'><p>{}</p></div>", "слово ".repeat(500)));
    assert!(extract.summary.starts_with("слово") && extract.summary.ends_with("слово …"), "{}", extract.summary);
    assert!((950..=1002).contains(&extract.summary.chars().count()));
    let fixed = read("<div style='position:fixed;inset:0'><p>An application</p></div>");
    assert_eq!(fixed.summary, "An application");
    let chart = read(
        "<svg><title>unseen</title><defs><text id=t>unseen</text></defs><g opacity=0><text>unseen</text></g><g><text>Mon <tspan>9</tspan></text><text visibility=hidden>unseen</text></g>
        <foreignObject width=50 height=20><p>Label</p></foreignObject></svg>",
    );
    assert_eq!(chart.text, "Mon 9\nLabel");
    assert_eq!(read("").text, "");
}

#[test]
#[ignore = "needs Chromium"]
fn a_page_of_50_megabytes_is_read_in_part() {
    let row = "<tr><td>cell of a long table</td><td><a href=#>link</a></td></tr>";
    let page = format!("<main><table>{}</table></main>", row.repeat((50 << 20) / row.len()));
    let extract = read(&page);
    assert!(extract.is_cut && extract.text.starts_with("cell of a long table | link\ncell"), "{:?}", extract.stats);
    assert!(extract.stats.characters > 10_000 && extract.stats.characters <= 2_000_100, "{:?}", extract.stats);
}
