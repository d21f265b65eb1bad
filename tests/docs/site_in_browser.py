"""Every page of the built site in Chromium: `python tests/docs/site_in_browser.py build/site`.

Opens each page at two widths, in light and dark colours, and prints what axe finds, what the
console says, and pages that are wider than the window. The exit code is 1 if there is anything.
`404.html` is left out: its addresses begin at the root of a server.
"""

import sys
import tempfile
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))  # as in the tests

from tests.serving.browser import Page, chromium  # noqa: E402

SCREENS = [(1280, "light"), (390, "dark")]


def main(folder: str) -> int:
    site = Path(folder).resolve()
    pages = sorted(set(site.rglob("*.html")) - {site / "404.html"})
    if not pages:
        sys.exit(f"There is no page in {site}.")
    num_faults = 0
    with tempfile.TemporaryDirectory() as own, chromium(Path(own)) as driver:
        for width, scheme in SCREENS:
            for path in pages:
                page = Page(driver, path.as_uri(), width, scheme, ready="return true")
                for fault in faults(page):
                    print(f"{path.relative_to(site)}, {width} {scheme}: {fault}", flush=True)
                    num_faults += 1
    print(f"{len(pages)} pages, {len(SCREENS)} screens, {num_faults} faults")
    return num_faults > 0


def faults(page: Page) -> list[str]:
    # The preload of axe would fetch the style sheets, which a page of a folder may not.
    broken = page.barriers(preload=False)
    found = [f"{rule}, {len(places)} times, first {places[0][:160]}" for rule, places in broken]
    if page.scrolls_sideways():
        found.append("wider than the window")
    log = page.driver.get_log("browser")
    return found + [entry["message"] for entry in log if entry["level"] == "SEVERE"]


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
