"""Run a level and a small campaign from Python."""

import spca

run = spca.run("pickup_02", preset="shuffled", seed=3, on_event=lambda event: print(event.kind, event.text))
print(run.result.outcome.value, run.result.sim, run.report)

campaign = spca.campaign(["touch_02"], presets=["nominal"], tables=2)
print(campaign.success_rate, [row["wall"] for row in campaign.table])
