"""The campaign's page: one self-contained HTML file."""

from __future__ import annotations

from pathlib import Path

from jinja2 import Environment, PackageLoader, select_autoescape
from markupsafe import Markup

from spca.campaign import plots
from spca.campaign.compare import compare
from spca.campaign.results import read_results
from spca.campaign.run import MANIFEST, SPEC
from spca.campaign.spec import CampaignSpec
from spca.campaign.statistics import by, medians, success_rate
from spca_core.options import Manifest
from spca_core.run_folder import write_atomically

PAGE = "index.html"
# The published figures that a campaign is shown beside: 22 of 31 levels on one table, 5.13 minutes each.
PUBLISHED = {"success": 22 / 31, "minutes": 5.13, "rounds": 1.38}


def write_page(folder: Path, baseline: Path | None = None) -> Path:
    """Write `index.html` in the campaign's folder; `baseline` is an earlier campaign to compare with."""
    results, complaints = read_results(folder)
    drawn = {
        name: Markup(getattr(plots, f"{name}_plot")(results))
        for name in ("success", "stage", "simulated", "rounds", "causes")
    }
    loader = PackageLoader("spca.campaign")
    environment = Environment(
        loader=loader, autoescape=select_autoescape(default=True), trim_blocks=True, lstrip_blocks=True
    )
    page = environment.get_template("campaign.html.j2").render(
        name=folder.name,
        spec=CampaignSpec.model_validate_json((folder / SPEC).read_bytes()),
        manifest=Manifest.model_validate_json((folder / MANIFEST).read_bytes()),
        total=success_rate(results),
        presets={k: (success_rate(v), medians(v)) for k, v in by(results, "preset").items()},
        levels={
            k: {p: success_rate(w) for p, w in by(v, "preset").items()}
            for k, v in by(results, "level").items()
        },
        failed=[r for r in results if not r.success],
        plots=drawn,
        published=PUBLISHED,
        complaints=complaints,
        comparison=compare(read_results(baseline)[0], results) if baseline else None,
    )
    write_atomically(folder / PAGE, page.encode())
    return folder / PAGE
