//! Consent dialogs on pages modelled on those of common platforms, and pages without one, in a real Chromium.

use crate::{evaluate, soon};
use pipewright_browser::{AddressRules, BannerSettings, Browser, ClosedBanners, Launch, Ready, Strategy};
use std::path::{Path, PathBuf};
use std::time::Duration;

fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/it/pages/banners")
}

/// Serves the pages, in which `{other}` is another site. Returns the port.
fn serve() -> u16 {
    let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let port = listener.local_addr().unwrap().port();
    std::thread::spawn(move || {
        for stream in listener.incoming() {
            let mut stream = stream.unwrap();
            std::thread::spawn(move || {
                let mut bytes = [0; 4096];
                let length = std::io::Read::read(&mut stream, &mut bytes).unwrap_or(0);
                let request = String::from_utf8_lossy(&bytes[..length]).into_owned();
                let name = request.split(' ').nth(1).unwrap_or("/").trim_start_matches('/').to_owned();
                let page = std::fs::read_to_string(folder().join(name)).unwrap_or_default();
                let page = page.replace("{other}", &format!("http://localhost:{port}"));
                let head = "HTTP/1.1 200 OK\r\ncontent-type: text/html; charset=utf-8\r\nconnection: close\r\n\r\n";
                let _ = std::io::Write::write_all(&mut stream, format!("{head}{page}").as_bytes());
            });
        }
    });
    port
}

/// A browser that may show the pages here, and files in a folder.
fn start(files: &Path) -> Browser {
    let allowed =
        AddressRules::default().origin("127.0.0.1").unwrap().origin("localhost").unwrap().file(files).unwrap();
    Browser::start(&Launch { allowed, ..Launch::default() }).unwrap()
}

/// The answer that a page received, and the result of closing its dialogs.
fn close(browser: &mut Browser, address: &str, settings: &BannerSettings) -> (String, String, ClosedBanners) {
    browser.navigate(address, Ready::Quiet(Duration::from_millis(50)), soon()).unwrap();
    let closed = browser.close_banners(settings, soon()).unwrap();
    let data = evaluate(
        browser,
        "[document.documentElement.dataset.expected, document.documentElement.dataset.answer ?? 'untouched']",
    );
    (data[0].as_str().unwrap().to_owned(), data[1].as_str().unwrap().to_owned(), closed)
}

#[test]
#[ignore = "needs Chromium"]
fn dialogs_are_declined_and_pages_without_one_are_left_alone() {
    let port = serve();
    let mut browser = start(&folder());
    let mut names: Vec<String> =
        std::fs::read_dir(folder()).unwrap().map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
    names.sort();
    let mut wrong = Vec::new();
    for name in names.iter().filter(|name| !name.ends_with("-frame.html")) {
        // A busy machine needs more time to close a dialog. Without a dialog, every call takes the complete time.
        let is_free = std::fs::read_to_string(folder().join(name)).unwrap().contains("data-expected=\"untouched\"");
        let time_budget = if is_free { BannerSettings::default().time_budget } else { Duration::from_secs(6) };
        let settings = BannerSettings { time_budget, ..BannerSettings::default() };
        let (expected, answer, closed) = close(&mut browser, &format!("http://127.0.0.1:{port}/{name}"), &settings);
        let is_right = answer == expected && closed.closed == u32::from(expected != "untouched");
        let in_time = closed.elapsed < time_budget + Duration::from_secs(1);
        if !is_right || !in_time {
            wrong.push(format!("{name}: {expected} expected, not {answer}: {closed:?}"));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// The text of a notice, the label that declines, and the label that accepts.
const NOTICES: [[&str; 4]; 36] = [
    ["bg", "Този сайт използва бисквитки, за да подобри Вашето изживяване.", "Отхвърляне на всички", "Приемам всички"],
    [
        "hr",
        "Koristimo kolačiće kako bismo poboljšali vaše korisničko iskustvo na ovoj stranici.",
        "Odbij sve kolačiće",
        "Prihvati sve",
    ],
    ["cs", "Tento web používá soubory cookie k analýze návštěvnosti.", "Povolit jen nezbytné", "Přijmout vše"],
    ["da", "Vi bruger cookies til at forbedre din oplevelse på hjemmesiden.", "Kun nødvendige", "Tillad alle"],
    [
        "nl",
        "Wij gebruiken cookies om uw ervaring op onze website te verbeteren.",
        "Alleen noodzakelijke cookies",
        "Alles accepteren",
    ],
    ["et", "See veebisait kasutab küpsiseid kasutuskogemuse parandamiseks.", "Keeldu kõigist", "Nõustu kõigiga"],
    [
        "fi",
        "Käytämme evästeitä parantaaksemme käyttökokemusta sivustollamme.",
        "Hyväksy vain välttämättömät",
        "Hyväksy kaikki",
    ],
    ["fr", "Nous utilisons des cookies pour améliorer votre expérience sur notre site.", "Je refuse tout", "J’accepte"],
    [
        "de",
        "Wir nutzen Cookies auf unserer Website, um Ihr Erlebnis zu verbessern.",
        "Nur essenzielle Cookies akzeptieren",
        "Ich stimme zu",
    ],
    [
        "el",
        "Χρησιμοποιούμε cookies για να βελτιώσουμε την εμπειρία σας στον ιστότοπό μας.",
        "Απόρριψη όλων",
        "Αποδοχή όλων",
    ],
    [
        "hu",
        "Weboldalunk sütiket használ a jobb felhasználói élmény érdekében.",
        "Összes elutasítása",
        "Összes elfogadása",
    ],
    [
        "ga",
        "Úsáidimid fianáin chun an suíomh gréasáin seo a fheabhsú.",
        "Diúltaigh do gach fianán",
        "Glac le gach fianán",
    ],
    [
        "it",
        "Questo sito utilizza cookie per migliorare la tua esperienza di navigazione.",
        "Accetta solo i necessari",
        "Accetta tutti",
    ],
    ["lv", "Šī vietne izmanto sīkdatnes, lai uzlabotu lietošanas pieredzi.", "Noraidīt visas", "Piekrītu visām"],
    ["lt", "Šioje svetainėje naudojame slapukus, kad pagerintume jūsų patirtį.", "Atmesti visus", "Sutinku su visais"],
    ["mt", "Dan is-sit juża cookies biex itejjeb l-esperjenza tiegħek.", "Irrifjuta kollha", "Aċċetta kollha"],
    ["pl", "Ta strona korzysta z plików cookie w celach analitycznych.", "Odrzuć wszystkie", "Zaakceptuj wszystkie"],
    [
        "pt",
        "Utilizamos cookies para melhorar a sua experiência no nosso site.",
        "Aceitar apenas os essenciais",
        "Aceitar todos",
    ],
    ["ro", "Acest site folosește cookie-uri pentru a îmbunătăți experiența.", "Respinge toate", "Acceptă toate"],
    ["sk", "Táto webová stránka používa súbory cookie na analýzu návštevnosti.", "Odmietnuť všetky", "Prijať všetky"],
    ["sl", "Spletna stran uporablja piškotke za boljšo uporabniško izkušnjo.", "Samo nujni", "Sprejmi vse"],
    [
        "es",
        "Utilizamos cookies propias y de terceros para analizar la navegación en este sitio web.",
        "Rechazar todas",
        "Aceptar y continuar",
    ],
    [
        "sv",
        "Vi använder kakor för att förbättra din upplevelse på webbplatsen.",
        "Endast nödvändiga kakor",
        "Acceptera alla",
    ],
    ["ru", "Этот сайт использует файлы cookie для персонализации рекламы.", "Отклонить все", "Принять"],
    ["uk", "Ми використовуємо файли cookie, щоб покращити роботу сайту.", "Лише необхідні", "Прийняти всі"],
    ["tr", "Web sitemizde deneyiminizi iyileştirmek için çerezler kullanıyoruz.", "Tümünü Reddet", "Tümünü Kabul Et"],
    ["zh", "我们使用 Cookie 来改善您在本网站的体验。", "仅接受必要的 Cookie", "接受全部"],
    ["zh", "本網站使用 Cookie 以提升您的瀏覽體驗。", "全部拒絕", "全部接受"],
    [
        "ja",
        "当サイトではCookieを使用しています。詳細はプライバシーポリシーをご覧ください。",
        "必要なCookieのみ許可",
        "すべてのCookieを受け入れる",
    ],
    ["ko", "이 웹사이트는 더 나은 경험을 위해 쿠키를 사용합니다.", "필수 쿠키만 허용", "모두 허용"],
    ["ar", "نستخدم ملفات تعريف الارتباط لتحسين تجربتك على موقعنا.", "رفض الكل", "قبول الكل"],
    ["he", "אתר זה משתמש בעוגיות כדי לשפר את חוויית הגלישה.", "דחיית הכל", "אישור הכל"],
    ["hi", "यह वेबसाइट आपके अनुभव को बेहतर बनाने के लिए कुकीज़ का उपयोग करती है।", "सभी अस्वीकार करें", "सभी स्वीकार करें"],
    ["id", "Situs web ini menggunakan cookie untuk meningkatkan pengalaman Anda.", "Tolak semua", "Terima semua"],
    ["vi", "Trang web này sử dụng cookie để cải thiện trải nghiệm của bạn.", "Từ chối tất cả", "Chấp nhận tất cả"],
    ["th", "เว็บไซต์นี้ใช้คุกกี้เพื่อเพิ่มประสบการณ์ของคุณ", "ปฏิเสธทั้งหมด", "ยอมรับทั้งหมด"],
];

#[test]
#[ignore = "needs Chromium"]
fn notices_are_declined_in_many_languages() {
    let place = tempfile::tempdir().unwrap();
    let mut browser = start(place.path());
    let path = place.path().join("page.html");
    let mut wrong = Vec::new();
    for [language, text, decline, accept] in NOTICES {
        let page = format!(
            "<!doctype html><html data-expected=declined><meta charset=utf-8><main>A page</main>
            <div id=b1 style='position:fixed;bottom:0;background:#fff'><p>{text}</p><button onclick='answer(\"accepted\")'>{accept}</button>
            <button onclick='answer(\"declined\")'>{decline}</button></div>
            <script>const answer = (text) => {{ document.documentElement.dataset.answer = text; b1.remove() }}</script>"
        );
        std::fs::write(&path, page).unwrap();
        for (strategy, expected) in [(Strategy::Safe, "declined"), (Strategy::Accept, "accepted")] {
            let settings =
                BannerSettings { strategy, languages: vec![language.to_owned()], ..BannerSettings::default() };
            let (_, answer, closed) = close(&mut browser, &format!("file://{}", path.display()), &settings);
            if (answer.as_str(), closed.closed) != (expected, 1) {
                wrong.push(format!("{language}: {answer} instead of {expected}"));
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
#[ignore = "needs Chromium"]
fn a_dialog_in_another_language_than_the_given_ones_is_left_alone() {
    let port = serve();
    let mut browser = start(&folder());
    let page = format!("http://127.0.0.1:{port}/bar-below.html");
    let german = BannerSettings { languages: vec!["de-AT".to_owned()], ..BannerSettings::default() };
    assert_eq!(close(&mut browser, &page, &german).1, "untouched");
    let none = BannerSettings { max_passes: 0, ..BannerSettings::default() };
    assert_eq!(close(&mut browser, &page, &none).1, "untouched");
    let short = BannerSettings { time_budget: Duration::ZERO, ..BannerSettings::default() };
    assert!(close(&mut browser, &page, &short).2.elapsed < Duration::from_millis(1000));
}
