"""Every page of the built site in Chromium: `python tests/docs/site_in_browser.py build/site`.

Opens each page at two widths, in light and dark colours, and prints what axe finds, what the
console says, pages that are wider than the window or larger than 1 MB, live pieces that do not
answer, and faults of languages and links. Then it searches for words in three languages. The exit
code is 1 if there is anything. `404.html` is left out: its addresses begin at the root of a server.
A pattern after the folder, such as `"api/*.html"`, chooses pages.
"""

import functools
import http.server
import re
import sys
import tempfile
import threading
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))  # as in the tests

from selenium.common.exceptions import TimeoutException  # noqa: E402
from selenium.webdriver import Keys  # noqa: E402

from tests.serving.browser import Page, chromium  # noqa: E402

SCREENS = [(1280, "light"), (390, "dark")]
MOST_BYTES = 1_000_000  # of a page with its pictures
# Words of a search, and a page that must be among the results.
SEARCHES = {
    "rotary": "api/rotary_embedding.html",
    "位置エンコーディング": "tutorials/ja/3_positions.html",
    "マスク": "tutorials/ja/1_attention_pooling.html",
    "因果マスク": "tutorials/ja/2_self_attention.html",
    "어텐션": "tutorials/ko/2_self_attention.html",
    "위치 인코딩": "tutorials/ko/3_positions.html",
}
# Faults that the page itself can tell, as sentences.
FAULTS = r"""
const [language, others, name] = arguments, found = [], { lang } = document.documentElement;
const all = (selector) => [...document.querySelectorAll(selector)];
if (lang !== language) found.push(`the language is ${lang}`);
const scheme = document.body.dataset.mdColorScheme;
if ((scheme === "slate") !== matchMedia("(prefers-color-scheme: dark)").matches) found.push(scheme);
const links = all("article a").map(({ href }) => href);
for (const other of others) {
  if (!links.some((href) => href.endsWith(other))) found.push(`no link to ${other}`);
}
if (name && !document.querySelector(".md-footer__link")) found.push("neither previous nor next");
const cjk = "[\\u3040-\\u30ff\\u3400-\\u9fff]";
for (const { textContent } of all("article :is(p, li)")) {
  const broken = new RegExp(`.{0,9}${cjk}\\n\\s*${cjk}.{0,9}`).exec(textContent);
  if (broken) found.push(`a line break in ${JSON.stringify(broken[0])}`);
}
const ground = (selector) => all(selector).map((one) => getComputedStyle(one).backgroundColor)[0];
if (document.querySelector(".output") && ground(".input code") === ground(".output code")) {
  found.push("input and output look the same");
}
for (const piece of all("[data-live]")) {
  const said = () => piece.querySelector("[role=status]")?.textContent;
  const [before, input] = [said(), piece.querySelector("input, .live-cell")];
  if (input?.type === "range") input.value = input.max;
  input?.dispatchEvent(input.type === "range" ? new Event("input") : new MouseEvent("click"));
  if (!before || before === said()) found.push(`${piece.dataset.live} says nothing`);
}
for (const drawing of all("[data-attention]")) {
  if (!drawing.shadowRoot?.querySelector("[role=option]")) found.push("no drawing of attention");
}
return found;
"""


def main(folder: str, pattern: str = "**/*.html") -> int:
    site = Path(folder).resolve()
    pages = sorted(set(site.glob(pattern)) - {site / "404.html"})
    if not pages:
        sys.exit(f"There is no page in {site}.")
    num_faults = 0

    def tell(where, found):
        nonlocal num_faults
        for fault in found:
            print(f"{where}: {fault}", flush=True)
        num_faults += len(found)

    with tempfile.TemporaryDirectory() as own, chromium(Path(own)) as driver:
        for width, scheme in SCREENS:
            # The theme remembers the colours of the first screen.
            forget = "localStorage.clear(); return true"
            Page(driver, pages[0].as_uri(), width, scheme, forget)
            for path in pages:
                page = Page(driver, path.as_uri(), width, scheme, ready="return true")
                tell(f"{path.relative_to(site)}, {width} {scheme}", faults(page, path, site))
        tell("search", faults_of_search(driver, site))
    print(f"{len(pages)} pages, {len(SCREENS)} screens, {len(SEARCHES)} words, {num_faults} faults")
    return num_faults > 0


def faults(page: Page, path: Path, site: Path) -> list[str]:
    # The preload of axe would fetch the style sheets, which a page of a folder may not.
    broken = page.barriers(preload=False)
    found = [f"{rule}, {len(places)} times, first {places[0][:160]}" for rule, places in broken]
    if page.scrolls_sideways():
        found.append("wider than the window")
    html = path.read_text(encoding="utf-8")
    pictures = {path.parent / src for src in re.findall(r'<img [^>]*src="([^":]+)"', html)}
    size = path.stat().st_size + sum(picture.stat().st_size for picture in pictures)
    if size > MOST_BYTES:
        found.append(f"{size:,} bytes with pictures")
    language, others, name = translations(path, site / "tutorials")
    found += page.run(FAULTS, language, others, name)
    log = page.driver.get_log("browser")
    return found + [entry["message"] for entry in log if entry["level"] == "SEVERE"]


def translations(path: Path, tutorials: Path) -> tuple[str, list[str], str]:
    """Language of a page; if it is a tutorial, ends of the addresses in other languages, name."""
    language = path.parent.name if path.parent.parent == tutorials else "en"
    if tutorials not in path.parents or not path.name[0].isdigit():
        return ("en" if language not in ("ja", "ko") else language), [], ""
    folders = {"en": tutorials, "ja": tutorials / "ja", "ko": tutorials / "ko"}
    others = [folder / path.name for code, folder in folders.items() if code != language]
    return language, [f"{one.parent.name}/{one.name}" for one in others if one.exists()], path.stem


def faults_of_search(driver, site: Path) -> list[str]:
    handler = functools.partial(Quiet, directory=site)
    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        address = f"http://127.0.0.1:{server.server_port}"
        found = []
        for word, expected in SEARCHES.items():
            page = Page(driver, f"{address}/index.html", ready="return true")
            page.run("document.querySelector('[data-md-toggle=search]').click()")
            page.all("input.md-search__input")[0].send_keys(word, Keys.SPACE, Keys.BACKSPACE)
            try:
                page.wait("return document.querySelector('a.md-search-result__link')")
            except TimeoutException:
                found.append(f"{word}: nothing")
                continue
            links = [link.get_attribute("href") for link in page.all("a.md-search-result__link")]
            if not any(
                f"{address}/{expected}" == link.split("#")[0].split("?")[0] for link in links
            ):
                found.append(f"{word}: {links}")
        server.shutdown()
    return found


class Quiet(http.server.SimpleHTTPRequestHandler):
    """Files of a folder, without a line for each request."""

    def log_message(self, *args: object) -> None:
        pass


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
