"""The pages for browser measurements: one with a button, one of the size of a documentation, and one with very many controls."""

import contextlib
import http.server
import threading

SECTIONS, MENU, SENTENCES = 440, 60, 12
ROWS = 4_000
BUTTON = "<button onclick='document.title = Math.random()'>Press</button>"
SMALL = f"<!doctype html><title>Small</title>{BUTTON}<input aria-label=Text>".encode()


def documentation():
    """A page of 290 kB with 500 links: a menu next to sections of text with a link each."""
    menu = "".join(f"<div><a href='#s{number}'>Section {number}</a></div>" for number in range(MENU))
    text = "The value that a function gives is a copy of it. " * SENTENCES
    sections = "".join(f"<h2 id=s{number}>Section {number}</h2><p>{text}<a href='/{number}'>Link {number} to a page</a></p>"
                       for number in range(SECTIONS))
    style = "<style>body { font: 16px sans-serif } nav { float: left; width: 240px }</style>"
    return f"<!doctype html><title>Documentation</title>{style}<nav>{menu}</nav><main>{BUTTON}{sections}</main>".encode()


def table():
    """A page of 16,000 controls: rows with a button, a link, a field and a checkbox."""
    rows = "".join(f"<div><button onclick='document.title = {row}'>Edit row {row}</button> <a href='/{row}'>Link {row}</a>"
                   f" <input aria-label='Field {row}'> <label><input type=checkbox> Choose {row}</label></div>" for row in range(ROWS))
    return f"<!doctype html><title>Rows</title>{rows}".encode()


class Pages(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    pages = {"/": SMALL, "/documentation": documentation(), "/rows": table()}

    def do_GET(self):
        page = self.pages.get(self.path)
        self.send_response(200 if page else 404)
        self.send_header("Content-Type", "text/html")
        self.send_header("Content-Length", str(len(page or b"")))
        self.end_headers()
        self.wfile.write(page or b"")

    def log_message(self, *_):
        pass


@contextlib.contextmanager
def serving():
    """Serves the pages; gives the address."""
    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), Pages) as server:
        server.daemon_threads = True
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{server.server_port}"
        server.shutdown()
