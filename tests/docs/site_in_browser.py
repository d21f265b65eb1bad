"""Every page of the built site in Chromium: `python tests/docs/site_in_browser.py build/site`.

Opens each page at two widths, in light and dark colours, and prints what axe finds, what the
console says, and pages that are wider than the window. The exit code is 1 if there is anything.
`404.html` is left out: its addresses begin at the root of a server.
"""

import sys
import tempfile
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))  # as in the tests

from tests.serving.browser import AXE, chromium  # noqa: E402

SCREENS = [(1280, "light"), (390, "dark")]


def main(folder: str) -> int:
    site = Path(folder).resolve()
    pages = sorted(set(site.rglob("*.html")) - {site / "404.html"})
    if not pages:
        sys.exit(f"There is no page in {site}.")
    num_faults = 0
    with tempfile.TemporaryDirectory() as own, chromium(Path(own)) as driver:
        for width, scheme in SCREENS:
            size = {"width": width, "height": 900, "deviceScaleFactor": 1, "mobile": width < 600}
            driver.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", size)
            preferences = {"prefers-color-scheme": scheme, "prefers-reduced-motion": "reduce"}
            features = [{"name": name, "value": value} for name, value in preferences.items()]
            driver.execute_cdp_cmd("Emulation.setEmulatedMedia", {"features": features})
            for page in pages:
                for fault in faults(driver, page.as_uri()):
                    print(f"{page.relative_to(site)}, {width} {scheme}: {fault}", flush=True)
                    num_faults += 1
    print(f"{len(pages)} pages, {len(SCREENS)} screens, {num_faults} faults")
    return num_faults > 0


def faults(driver, url: str) -> list[str]:
    driver.get(url)
    driver.execute_script(AXE.read_text("utf-8"))
    # Its preload would fetch the style sheets, which a page of a folder may not.
    broken = driver.execute_script("return axe.run({ preload: false })")["violations"]
    found = [
        f"{rule['id']}, {len(rule['nodes'])} times, first {rule['nodes'][0]['html'][:160]}"
        for rule in broken
    ]
    page = "document.documentElement"
    if driver.execute_script(f"return {page}.scrollWidth > {page}.clientWidth"):
        found.append("wider than the window")
    said = [entry["message"] for entry in driver.get_log("browser") if entry["level"] == "SEVERE"]
    return found + said


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
