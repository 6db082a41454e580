"""One table that stays: sentences, a plan, a single action."""

import spca

with spca.session(preset="shuffled", seed=3, report=False) as table:
    print(table.do("put the red cube on the blue plate").result.reason)
    view = table.look()
    print([thing.id for thing in view.objects], view.picture.shape)
    proposal = table.plan("put the green cube next to the blue cube")
    print(proposal.goal, proposal.steps)
    table.execute(proposal)
    print(table.act("pick_up", "cube_red", "plate_blue").result.reason)
    print(table.do("put it back").result.reason, table.ask("where is the red cube?"))
