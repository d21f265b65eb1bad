"""The page in Chromium, for its tests and its screenshots.

Debian's packages are `chromium chromium-driver`.
"""

import importlib.util
import os
import shutil
from contextlib import contextmanager
from pathlib import Path

from selenium import webdriver
from selenium.common.exceptions import StaleElementReferenceException
from selenium.webdriver import ActionChains
from selenium.webdriver.support.wait import WebDriverWait

OPTIONS = (
    "headless=new no-sandbox disable-gpu disable-quic no-first-run disable-background-networking "
    "disable-component-update disable-sync hide-scrollbars"
)
WIDTHS, SCHEMES = (1280, 768, 390), ("light", "dark")
SCREENS = [(width, scheme) for width in WIDTHS for scheme in SCHEMES]
READY = "return document.getElementById('model').textContent"

# The machine's fonts, and one that has Japanese whatever the machine has.
FONTS = """<?xml version="1.0"?>
<!DOCTYPE fontconfig SYSTEM "fonts.dtd">
<fontconfig>
  <include ignore_missing="yes">/etc/fonts/fonts.conf</include>
  <dir>{fonts}</dir>
  <cachedir>{cache}</cachedir>
</fontconfig>
"""


def missing():
    """Names of programs that are not installed, or an empty string."""
    programs = [name for name in ("chromium", "chromedriver") if shutil.which(name) is None]
    return f"not installed: {', '.join(programs)}" if programs else ""


def package(name):
    """The folder of an installed package, which is not imported."""
    return Path(importlib.util.find_spec(name).submodule_search_locations[0])


@contextmanager
def chromium(folder):
    """A browser that keeps what it needs in an empty folder and logs its console and requests."""
    fonts, file = package("matplotlib_fontja") / "fonts", folder / "fonts.conf"
    file.write_text(FONTS.format(fonts=fonts, cache=folder / "fonts"))
    options = webdriver.ChromeOptions()
    options.binary_location = shutil.which("chromium")
    for option in [*OPTIONS.split(), f"user-data-dir={folder / 'profile'}"]:
        options.add_argument(f"--{option}")
    options.set_capability("goog:loggingPrefs", {"browser": "ALL", "performance": "ALL"})
    environment = {**os.environ, "FONTCONFIG_FILE": str(file)}
    service = webdriver.ChromeService(shutil.which("chromedriver"), env=environment)
    with webdriver.Chrome(options, service) as driver:
        yield driver


class Page:
    """The page of a server in a browser, and what a person does with it.

    It is opened in a window of that width, with the colour scheme `"light"` or `"dark"`, and can be
    used once the script `ready` returns true.
    """

    def __init__(self, driver, url, width=1280, scheme="light", ready=READY):
        self.driver = driver
        self.run = driver.execute_script
        is_phone = width < 600
        size = {"width": width, "height": 844 if is_phone else 900}
        size |= {"deviceScaleFactor": 1, "mobile": is_phone}
        driver.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", size)
        # Nothing in motion, so that what is looked at is at rest.
        self.prefer({"prefers-color-scheme": scheme, "prefers-reduced-motion": "reduce"})
        driver.get(url)
        self.wait(ready)

    def prefer(self, preferences):
        """Tell the page what the reader prefers, by media feature."""
        features = [{"name": name, "value": value} for name, value in preferences.items()]
        self.driver.execute_cdp_cmd("Emulation.setEmulatedMedia", {"features": features})

    def one(self, name):
        """The element with that id."""
        return self.driver.find_element("id", name)

    def all(self, selector):
        """The elements that a selector of CSS finds."""
        return self.driver.find_elements("css selector", selector)

    def text(self, name):
        return self.one(name).text

    def names(self, selector):
        return [element.accessible_name for element in self.all(selector)]

    def shown(self, *names):
        """Those ids whose elements are displayed."""
        return [name for name in names if self.one(name).is_displayed()]

    def wait(self, script, *arguments):
        """Result of the script as soon as it is true."""
        return WebDriverWait(self.driver, 30, 0.05).until(
            lambda driver: driver.execute_script(script, *arguments), f"never true: {script}"
        )

    def wait_for(self, name):
        """Wait until the element with that id says something and is not hidden."""
        script = "const one = document.getElementById(arguments[0]);"
        self.wait(f"{script} return !one.hidden && one.textContent", name)

    def focused(self, name):
        """Wait until the element of that accessible name has the focus."""
        # Elements that the page replaces meanwhile are not a failure.
        WebDriverWait(self.driver, 30, 0.05, [StaleElementReferenceException]).until(
            lambda driver: driver.switch_to.active_element.accessible_name == name,
            f"never focused: {name}",
        )

    def press(self, *keys):
        ActionChains(self.driver).send_keys(*keys).perform()

    def point_at(self, element):
        ActionChains(self.driver).move_to_element(element).perform()

    def write(self, text):
        self.one("source").send_keys(text)

    def set_text(self, *texts):
        """Let these be the text, one right after the other."""
        write = "source.value = text; source.dispatchEvent(new InputEvent('input'));"
        self.run(f"for (const text of arguments) {{ {write} }}", *texts)

    def translated(self, translation=None):
        """Wait for a translation, or for this one, and return it."""
        script = """
            const { ariaBusy, textContent } = translation;
            const isIt = arguments[0] === null ? textContent : textContent === arguments[0];
            return isIt && ariaBusy !== "true" ? [textContent] : null;
        """
        return self.wait(script, translation)[0]

    def translate(self, text, translation=None):
        """Let this be the text, and wait for its translation, by default itself, and attention."""
        self.set_text(text)
        self.translated(text if translation is None else translation)
        self.attended()

    def attend(self, text):
        """Type a text, and wait for its attention."""
        self.write(text)
        self.attended()

    def attended(self):
        self.wait("return document.querySelector('#figure[aria-busy=false] .scroll')")

    def open(self, name):
        """Open what is behind a summary."""
        self.run("document.getElementById(arguments[0]).open = true", name)

    def choose(self, name, value):
        """Choose a `"kind"`, a `"layer"` or a `"head"`."""
        self.open("more")
        self.all(f"#{name} option[value='{value}']")[0].click()

    def barriers(self, **options):
        """Rules of accessibility that axe finds broken, and where."""
        if not self.run("return Boolean(window.axe)"):
            self.run((package("axe_playwright_python") / "axe.min.js").read_text("utf-8"))
        found = self.run("return axe.run(arguments[0])", options)["violations"]
        return [(rule["id"], [node["html"] for node in rule["nodes"]]) for rule in found]

    def first_drawing(self):
        """Milliseconds from the request of the page to the first drawing of attention."""
        return self.wait("return performance.getEntriesByName('drawn')[0]?.startTime")

    def layout_shift(self):
        """Sum of the layout shifts that follow no input (https://web.dev/articles/cls)."""
        return self.driver.execute_async_script(
            """
            const [done] = arguments;
            const jumped = (one) => (one.hadRecentInput ? 0 : one.value);
            const sum = (entries) => entries.reduce((total, one) => total + jumped(one), 0);
            new PerformanceObserver((list) => done(sum(list.getEntries()))).observe(
                { type: "layout-shift", buffered: true });
            setTimeout(() => done(0), 500);  // there are none
            """
        )

    def scrolls_sideways(self):
        script = "const { scrollWidth, clientWidth } = document.documentElement;"
        return self.run(f"{script} return scrollWidth > clientWidth")
