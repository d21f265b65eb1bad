"""Pictures of the page, for the README: `python tests/serving/screenshots.py URL FOLDER [TEXT]`."""

import base64
import sys
import tempfile
from pathlib import Path

from browser import Page, chromium

SENTENCE = "昨日、友達と映画を見ました。"
PICTURES = [(1280, "light", "lines"), (390, "dark", "heat-map")]


def main(url: str, folder: str, text: str = SENTENCE) -> None:
    Path(folder).mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory() as own, chromium(Path(own)) as driver:
        for width, scheme, drawing in PICTURES:
            page = Page(driver, url, width, scheme)
            page.write(text)
            page.attended()
            page.choose("drawing", drawing)
            page.run("document.activeElement.blur()")
            # From top to bottom, at twice the pixels, with no pointer over it.
            outside = {"type": "mouseMoved", "x": 0, "y": 0}
            driver.execute_cdp_cmd("Input.dispatchMouseEvent", outside)
            size = driver.execute_cdp_cmd("Page.getLayoutMetrics", {})["cssContentSize"]
            whole = {"clip": {**size, "scale": 2}, "captureBeyondViewport": True}
            shot = driver.execute_cdp_cmd("Page.captureScreenshot", whole)
            path = Path(folder) / f"page-{width}-{scheme}-{drawing}.png"
            path.write_bytes(base64.b64decode(shot["data"]))
            print(path)


if __name__ == "__main__":
    main(*sys.argv[1:])
