//! Ten sites, each with a goal and a text that shows that the goal is reached.

use crate::browser_bridge::serve_with;
use std::time::Duration;

/// A site that is served until the tests end.
pub struct Site {
    pub url: String,
    /// The goal in a person's words.
    pub goal: &'static str,
    /// This text is in a result of the world once the goal is reached.
    pub reached: &'static str,
    /// The folder of uploads and downloads.
    pub files: Option<tempfile::TempDir>,
}

impl Site {
    fn new(
        goal: &'static str,
        reached: &'static str,
        serve: impl Fn(&str) -> Option<String> + Send + Sync + 'static,
    ) -> Site {
        Site { url: serve_with(serve), goal, reached, files: None }
    }

    /// Options of browser-bridge.
    pub fn options(&self) -> Vec<String> {
        let folder = self.files.iter().map(|folder| folder.path().to_str().unwrap());
        folder.flat_map(|folder| ["--upload-root", folder, "--download-dir", folder]).map(str::to_owned).collect()
    }
}

pub fn page(title: &str, body: &str) -> Option<String> {
    let body = format!("<!doctype html><title>{title}</title>{body}");
    Some(format!("HTTP/1.1 200 OK\r\nContent-Type: text/html\r\nContent-Length: {}\r\n\r\n{body}", body.len()))
}

pub fn shop(is_reversed: bool) -> Site {
    let mut parts =
        ["<a href=/kettle>Kettle</a>", "<a href=/pan>Pan</a>", "<button>Menu</button>", "<a href=/cart>Cart</a>"];
    if is_reversed {
        parts.reverse();
    }
    let parts = parts.concat();
    Site::new("Put a kettle into the cart.", "\"title\":\"Added\"", move |path| match path {
        "/" => page("Shop", &parts),
        "/kettle" => page("Kettle", &format!("{parts}<form action=/added><button>Add to cart</button></form>")),
        "/added?" => page("Added", "<p>1 kettle in your cart<a href=/>Back</a>"),
        _ => None,
    })
}

pub fn search() -> Site {
    Site::new("Search for `kettle`, open the article, and say what a kettle does.", "boils water", |path| match path {
        "/" => page("Search", "<form action=/results><input type=search name=q aria-label=Search></form>"),
        "/results?q=kettle" => page("Results", "<a href=/1>Kettle, the article</a>"),
        "/1" => page("Kettle", "<p>A kettle boils water."),
        _ => None,
    })
}

pub fn article() -> Site {
    Site::new("Open the source of this article; the link is at its end.", "\"title\":\"Source\"", |path| match path {
        "/" => page("Article", "<p>Top<div style='height:5000px'></div><a href=/source>The source</a>"),
        "/source" => page("Source", "<p>Read."),
        _ => None,
    })
}

pub fn video() -> Site {
    let body = "<canvas></canvas><video muted></video><button onclick='play()'>Play</button><script>
        const drawing = document.querySelector('canvas').getContext('2d'), video = document.querySelector('video');
        setInterval(() => drawing.fillRect(Math.random() * 99, 0, 9, 9), 40);
        video.srcObject = document.querySelector('canvas').captureStream(25);
        function play() { video.play(); }</script>";
    Site::new("Play the video.", "\"playing\":true", move |path| (path == "/").then(|| page("Video", body)).flatten())
}

/// A person logs in.
pub fn login() -> Site {
    Site::new("Open my orders. I log in myself.", "\"title\":\"Orders\"", |path| match path {
        "/" => page("Log in", "<form action=/in><input name=user aria-label=User><button>Log in</button></form>"),
        "/in?user=ada" => page("Account", "<a href=/orders>Orders</a>"),
        "/orders" => page("Orders", "<p>2 orders"),
        _ => None,
    })
}

/// A single-page application that is never idle.
pub fn application() -> Site {
    let body = "<nav><button onclick='go()'>Inbox</button></nav><main></main><script>
        setInterval(() => fetch('/poll'), 100);
        function go() { history.pushState({}, '', '/inbox'); document.title = 'Inbox';
            setTimeout(() => { document.querySelector('main').innerHTML = '<button onclick=\"document.title=`Read`\">A message</button>'; }, 300); }</script>";
    Site::new("Read the message in the inbox.", "\"title\":\"Read\"", move |path| match path {
        "/" => page("App", body),
        "/poll" => page("", ""),
        _ => None,
    })
}

/// A page with a banner, and a frame.
pub fn news() -> Site {
    let banner =
        "<div id=b role=dialog style='position:fixed;inset:auto 0 0 0;height:300px;background:#fff'>We use cookies to improve your experience on this site.
        <button onclick='b.remove()'>Reject all</button><button onclick='b.remove()'>Accept all</button></div>";
    Site::new("Follow the news.", "\"title\":\"Subscribed\"", move |path| match path {
        "/" => page("Welcome", "<a href=/news>News</a>"),
        "/news" => page("News", &format!("<iframe src=/frame width=400 height=200></iframe>{banner}")),
        "/frame" => page("", "<button onclick='top.document.title=`Subscribed`'>Follow</button>"),
        _ => None,
    })
}

/// A page with an upload and a download.
pub fn files() -> Site {
    let files = tempfile::tempdir().unwrap();
    std::fs::write(files.path().join("cv.txt"), "me").unwrap();
    let site = Site::new("Give the page the file cv.txt, then download the report.", "report.csv", |path| match path {
        "/" => page(
            "Files",
            "<label>Your file<input type=file onchange='document.title=this.files[0].name'></label><a href=/report.csv download>Report</a>",
        ),
        "/report.csv" => {
            Some("HTTP/1.1 200 OK\r\nContent-Disposition: attachment\r\nContent-Length: 4\r\n\r\na,b\n".to_owned())
        }
        _ => None,
    });
    Site { files: Some(files), ..site }
}

/// A form with a success page.
pub fn form() -> Site {
    let goal = "Order in size L for Ada, accept the terms, and send it.";
    Site::new(goal, "\"title\":\"Thank you\"", |path| {
        match path {
        "/" => page(
            "Order",
            "<form action=/sent><label>Name<input name=n></label><label>Size<select name=s><option>S<option>L</select></label>
             <label><input type=checkbox name=t>Terms</label><button>Send</button></form>",
        ),
        "/sent?n=Ada&s=L&t=on" => page("Thank you", "<p>Order 7 has come."),
        _ => None,
    }
    })
}

/// A slow network.
pub fn slow() -> Site {
    Site::new("Go to the next page.", "\"title\":\"Arrived\"", |path| {
        std::thread::sleep(Duration::from_millis(700));
        match path {
            "/" => page("Slow", "<a href=/next>Next</a>"),
            "/next" => page("Arrived", "<img src=/picture><p>Here."),
            _ => None,
        }
    })
}

pub fn all() -> [Site; 10] {
    [shop(false), search(), article(), video(), login(), application(), news(), files(), form(), slow()]
}
