"""Every page of the built site in Chromium: `python tests/docs/site_in_browser.py build/site`.

Opens each page at two widths, in light and dark colours, and prints what axe finds, what the
console says, and pages that are wider than the window. The exit code is 1 if there is anything.
`404.html` is left out: its addresses begin at the root of a server.
"""

import argparse
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT))  # as in the tests

from tests.serving.browser import AXE, chromium  # noqa: E402

SCREENS = [(1280, "light"), (390, "dark")]


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("site", type=Path, help="folder of the built site")
    site = parser.parse_args().site.resolve()
    pages = sorted(set(site.rglob("*.html")) - {site / "404.html"})
    if not pages:
        parser.error(f"there is no page in {site}")
    axe = AXE.read_text("utf-8")
    num_faults = 0
    with tempfile.TemporaryDirectory() as folder, chromium(Path(folder)) as driver:
        for width, scheme in SCREENS:
            size = {"width": width, "height": 900, "deviceScaleFactor": 1, "mobile": width < 600}
            driver.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", size)
            preferences = {"prefers-color-scheme": scheme, "prefers-reduced-motion": "reduce"}
            features = [{"name": name, "value": value} for name, value in preferences.items()]
            driver.execute_cdp_cmd("Emulation.setEmulatedMedia", {"features": features})
            for page in pages:
                for fault in faults(driver, page.as_uri(), axe):
                    print(f"{page.relative_to(site)}, {width} {scheme}: {fault}", flush=True)
                    num_faults += 1
    print(f"{len(pages)} pages, {len(SCREENS)} screens, {num_faults} faults")
    return num_faults > 0


def faults(driver, url: str, axe: str) -> list[str]:
    driver.get(url)
    driver.execute_script(axe)
    # Its preload would fetch the style sheets, which a page of a folder may not.
    broken = driver.execute_script("return axe.run({ preload: false })")["violations"]
    found = [
        f"{rule['id']}, {len(rule['nodes'])} times, first {rule['nodes'][0]['html'][:160]}"
        for rule in broken
    ]
    if driver.execute_script(
        "return document.documentElement.scrollWidth > document.documentElement.clientWidth"
    ):
        found.append("wider than the window")
    said = [entry["message"] for entry in driver.get_log("browser") if entry["level"] == "SEVERE"]
    return found + said


if __name__ == "__main__":
    sys.exit(main())
