"""Chromium through ChromeDriver, by the W3C WebDriver protocol: as much of it as the tests need."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import httpx

FLAGS = (
    *("--headless=new", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run"),
    *("--disable-background-networking", "--disable-component-update", "--disable-sync"),
    *("--window-size=1280,1000", "--force-prefers-reduced-motion"),
)


def missing() -> str | None:
    """What is not installed, or ``None``."""
    lacking = [name for name in ("chromium", "chromedriver") if shutil.which(name) is None]
    return f"{' and '.join(lacking)} not installed" if lacking else None


class Browser:
    """One session. Scripts are JavaScript function bodies; arguments come as `arguments`."""

    def __init__(self, client: httpx.Client, session: str) -> None:
        self._client = client
        self._session = session

    def open(self, page: Path) -> None:
        self._post("url", {"url": page.resolve().as_uri()})

    def resize(self, width: int) -> None:
        """The window's width in pixels, its frame included."""
        self._post("window/rect", {"width": width, "height": 1000})

    def run(self, script: str, *arguments: Any) -> Any:
        return self._post("execute/sync", {"script": script, "args": list(arguments)})

    def click(self, selector: str) -> None:
        self._post(f"element/{self._find(selector)}/click", {})

    def type(self, selector: str, text: str) -> None:
        self._post(f"element/{self._find(selector)}/value", {"text": text})

    def press(self, *keys: str) -> None:
        """Keys to whatever has the focus."""
        actions = [{"type": kind, "value": key} for key in keys for kind in ("keyDown", "keyUp")]
        self._post("actions", {"actions": [{"type": "key", "id": "keys", "actions": actions}]})

    def devtools(self, command: str, **parameters: Any) -> Any:
        """A command of the Chrome DevTools Protocol: other media, other sizes, printing."""
        return self._post("goog/cdp/execute", {"cmd": command, "params": parameters})

    def media(self, kind: str = "", **features: str) -> None:
        """Be paper (`kind` print) or prefer something (``forced_colors="active"``); else as at first."""
        listed = [{"name": name.replace("_", "-"), "value": value} for name, value in features.items()]
        self.devtools("Emulation.setEmulatedMedia", media=kind, features=listed)

    def console(self) -> list[str]:
        """Messages of the page since the last call."""
        return [entry["message"] for entry in self._post("se/log", {"type": "browser"})]

    def requests(self) -> list[str]:
        """Addresses asked for since the last call."""
        entries = [json.loads(e["message"])["message"] for e in self._post("se/log", {"type": "performance"})]
        sent = [e["params"] for e in entries if e["method"] == "Network.requestWillBeSent"]
        return [params["request"]["url"] for params in sent]

    def _find(self, selector: str) -> str:
        found = self._post("element", {"using": "css selector", "value": selector})
        return str(next(iter(found.values())))

    def _post(self, path: str, body: Any) -> Any:
        answer = self._client.post(f"/session/{self._session}/{path}", json=body).json()["value"]
        assert not (isinstance(answer, dict) and "error" in answer), answer
        return answer


@contextmanager
def browser(profile: Path) -> Iterator[Browser]:
    """A fresh browser with an empty profile."""
    driver = subprocess.Popen(
        ["chromedriver", "--port=0"], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True
    )
    try:
        assert driver.stdout is not None
        lines = (re.search(r"started successfully on port (\d+)", line) for line in driver.stdout)
        port = next(found[1] for found in lines if found)
        options = {
            "binary": shutil.which("chromium"),
            "args": [*FLAGS, f"--user-data-dir={profile}"],
        }
        wanted = {
            "goog:chromeOptions": options,
            "goog:loggingPrefs": {"browser": "ALL", "performance": "ALL"},
        }
        with httpx.Client(base_url=f"http://127.0.0.1:{port}", timeout=60, trust_env=False) as client:
            body = {"capabilities": {"alwaysMatch": wanted}}
            session = client.post("/session", json=body).json()["value"]["sessionId"]
            try:
                yield Browser(client, session)
            finally:
                client.delete(f"/session/{session}")
    finally:
        driver.terminate()
        driver.wait()
        if driver.stdout is not None:
            driver.stdout.close()
