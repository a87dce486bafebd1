"""Builds the documentation: the pages of ``replay/docs`` and the reference that is made from the
program, as a site that needs no network (``replay/site``), and man pages (``build/man``)."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

from reference_pages import (
    codes_page,
    commands_page,
    dialects_page,
    layouts_page,
    options_page,
    python_page,
)

from replay.cli.manual import man_pages

ROOT = Path(__file__).resolve().parent.parent
_FROM_NETWORK = re.compile(r'<script src="https:[^"]*"></script>')
#: Pages that are files may start no worker, which the search box needs: it runs in a hidden frame.
_WORKER = """<script>
if (location.protocol === "file:") window.Worker = class extends EventTarget {
  constructor(url) {
    super();
    const frame = document.body.appendChild(document.createElement("iframe"));
    frame.hidden = true;
    this.inside = frame.contentWindow;
    const base = new URL(url, location);
    const load = src => new Promise(loaded => {
      const script = this.inside.document.createElement("script");
      script.src = new URL(src, base); script.onload = loaded;
      this.inside.document.body.append(script);
    });
    this.inside.importScripts = (...all) => all.reduce((past, one) => past.then(() => load(one)),
      Promise.resolve());
    this.inside.postMessage = data => this.dispatchEvent(new MessageEvent("message", { data }));
    this.ready = load(base);
  }
  postMessage(data) {
    this.ready.then(() => this.inside.dispatchEvent(new MessageEvent("message", { data })));
  }
};
</script>"""


def kept_pages() -> None:
    """Write the page that is made from the program and kept in the repository."""
    reference = ROOT / "replay" / "docs" / "reference"
    (reference / "options.md").write_text(options_page(), encoding="utf-8")


def sources(folder: Path) -> None:
    """Put all pages into ``folder``: those of the repository, and what is made from the program."""
    shutil.rmtree(folder, ignore_errors=True)
    shutil.copytree(ROOT / "replay" / "docs", folder)
    reference = folder / "reference"
    reference.mkdir(exist_ok=True)
    (reference / "commands.md").write_text(commands_page(), encoding="utf-8")
    (reference / "codes.md").write_text(codes_page(), encoding="utf-8")
    (reference / "dialects.md").write_text(dialects_page(), encoding="utf-8")
    (reference / "layouts.md").write_text(layouts_page(), encoding="utf-8")
    (reference / "python.md").write_text(python_page(), encoding="utf-8")


def build(pages: Path, site: Path) -> int:
    """Build the site of ``pages`` into the folder ``site``; the exit code of the builder, which is
    not 0 for a link that leads nowhere."""
    sources(pages)
    command = [sys.executable, "-m", "mkdocs", "build", "--quiet", "--site-dir", str(site)]
    known = os.environ | {"LOGREPLAY_DOCS": str(pages), "DISABLE_MKDOCS_2_WARNING": "true"}
    code = subprocess.run(
        [*command, "-f", "scripts/mkdocs.yml"], cwd=ROOT, env=known, check=False
    ).returncode
    for page in site.rglob("*.html"):
        text = page.read_text(encoding="utf-8")
        page.write_text(_FROM_NETWORK.sub(lambda _: _WORKER, text), encoding="utf-8")
    return code


def main() -> int:
    """Build everything, and say where it is."""
    site, man = ROOT / "replay" / "site", ROOT / "build" / "man"
    shutil.rmtree(man, ignore_errors=True)
    man.mkdir(parents=True)
    for name, text in man_pages().items():
        (man / name).write_text(text, encoding="utf-8")
    kept_pages()
    code = build(ROOT / "build" / "docs", site)
    if code == 0:
        print(f"{site / 'index.html'}\n{man}")
    return code


if __name__ == "__main__":
    sys.exit(main())
