"""A program for another wish: 14 SCV and 6 Marine."""


def plan(observation, actions, task):
    """Workers and marines, a depot when it gets tight, barracks once there is a depot."""
    have, soon = observation["have"], dict(observation["have"])
    for name, count in observation["underway"].items():
        soon[name] = soon.get(name, 0) + count
    orders = []
    if observation["supply_cap"] - observation["supply_used"] < 3 and not observation["underway"].get(
        "SupplyDepot"
    ):
        orders.append("BUILD SupplyDepot")
    if not soon.get("Barracks") and have.get("SupplyDepot"):
        orders.append("BUILD Barracks")
    for unit in ("SCV", "Marine"):
        if soon.get(unit, 0) < observation["wanted"].get(unit, 0) and (unit == "SCV" or have.get("Barracks")):
            orders.append("TRAIN " + unit)
    return orders or ["WAIT"]
