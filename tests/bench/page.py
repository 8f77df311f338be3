"""Measure the page in the browser: first paint, and a keystroke to results, in a real Chromium.

    python tests/bench/page.py LINK [--tries 20]

LINK is the one that `cqm ui --no-open` printed. It takes a Chromium and the package playwright, which are not locked.
"""

import argparse
import shutil
import statistics
from typing import Any

from playwright.sync_api import sync_playwright

QUESTIONS = (
    "where are retries limited",
    "parse json body",
    "close the connection pool",
    "Router",
    "spawn blocking task",
)
_WATCHED = """() => {
  window.times = [];
  document.getElementById('q').addEventListener('input', () => { window.typed = performance.now(); }, true);
  document.getElementById('results').addEventListener('shown', () => {
    const typed = window.typed;
    requestAnimationFrame(() => setTimeout(() => window.times.push(performance.now() - typed)));
  });
}"""
_PAINT = "() => performance.getEntriesByName('first-contentful-paint')[0]?.startTime ?? 0"


def paints(page: Any, folder: str, address: str, tries: int) -> list[float]:
    """Milliseconds from the beginning of a visit to the first paint with content."""
    found = []
    for _ in range(tries):
        page.goto(f"{folder}/{address}")
        while not (painted := page.evaluate(_PAINT)):
            page.wait_for_timeout(5)
        found.append(painted)
    return found


def keystrokes(page: Any, folder: str) -> list[float]:
    """Milliseconds from a keystroke to its painted results, each typed when the one before is answered."""
    found: list[float] = []
    for question in QUESTIONS:
        page.goto(f"{folder}/")
        page.evaluate(_WATCHED)
        for at, letter in enumerate(question.replace(" ", "")):
            page.locator("#q").press_sequentially(letter)
            while page.evaluate("window.times.length") <= at:
                page.wait_for_timeout(2)
        found += page.evaluate("window.times")
    return found


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("link")
    parser.add_argument("--tries", type=int, default=20)
    asked = parser.parse_args()
    program = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))))
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=program, args=["--no-sandbox"])
        page = browser.new_page(viewport={"width": 1440, "height": 900})
        page.goto(asked.link)
        page.wait_for_selector("#q")
        folder = page.url.rpartition("/")[0]
        rows = {
            "first paint, empty": paints(page, folder, "./", asked.tries),
            "first paint, with results": paints(page, folder, "./?q=where+are+retries+limited", asked.tries),
            "keystroke to results": keystrokes(page, folder),
        }
        browser.close()
    print(f"{'milliseconds':28}{'median':>8}{'p90':>8}{'most':>8}{'n':>6}")
    for name, times in rows.items():
        ninetieth = statistics.quantiles(times, n=10)[-1]
        print(f"{name:28}{statistics.median(times):8.0f}{ninetieth:8.0f}{max(times):8.0f}{len(times):6}")


if __name__ == "__main__":
    main()
