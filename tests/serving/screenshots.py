"""Pictures of the page, for the README: `python tests/serving/screenshots.py URL FOLDER [TEXT]`.

Without a text, they show the first example of the model.

Each width and colour scheme is shown as on a first visit, with its measures, and with all that can
be opened. `page-follow.png` is the computation of a weight.
"""

import base64
import sys
import tempfile
from pathlib import Path

from browser import SCREENS, Page, chromium


def main(url: str, folder: str, text: str = "") -> None:
    Path(folder).mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory() as own, chromium(Path(own)) as driver:
        for width, scheme in SCREENS:
            driver.get("about:blank")  # the same address with another text is the same visit
            page = Page(driver, f"{url}#{text}" if text else url, width, scheme)
            page.attended()
            name = f"page-{width}-{scheme}"
            drawn, shift = page.first_drawing(), page.layout_shift()
            barriers = [rule for rule, _ in page.barriers()]
            print(f"{name}: {drawn:.0f} ms, layout shift {shift:.4f}, barriers {barriers}")
            _take(page, Path(folder) / f"{name}.png")
            page.all(".target li")[-3].click()  # the last word
            for part in ("follow", "more"):
                page.open(part)
            page.wait("return document.querySelector('#follow .strip')")
            if (width, scheme) == SCREENS[0]:
                _take(page, Path(folder) / "page-follow.png", "follow")
            page.all("#alternatives button")[3].click()
            _take(page, Path(folder) / f"{name}-open.png")


def _take(page: Page, path: Path, part: str = "") -> None:
    """From top to bottom, or one part, at twice the pixels, with no pointer over it."""
    outside = {"type": "mouseMoved", "x": 0, "y": 0}
    page.driver.execute_cdp_cmd("Input.dispatchMouseEvent", outside)
    size = page.driver.execute_cdp_cmd("Page.getLayoutMetrics", {})["cssContentSize"]
    if part:
        page.run("scrollTo(0, 0)")
        size = page.one(part).rect
    whole = {"clip": {**size, "scale": 2}, "captureBeyondViewport": True}
    shot = page.driver.execute_cdp_cmd("Page.captureScreenshot", whole)
    path.write_bytes(base64.b64decode(shot["data"]))
    print(path)


if __name__ == "__main__":
    main(*sys.argv[1:])
