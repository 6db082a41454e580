"""Texts of robosuite's tasks: what is to be done. Imported by `server`, too, which has nothing of spca."""

TEXTS = {
    "Lift": "Lift the red cube.",
    "Stack": "Stack the red cube on the green cube.",
    "StackThree": "Stack the red cube on the green cube and the blue cube on the red cube.",
    "PickPlaceCan": "Put the red can in the red tray.",
    "PickPlaceMilk": "Put the white box in the white tray.",
    "PickPlaceBread": "Put the brown block in the brown tray.",
    "PickPlaceCereal": "Put the orange box in the orange tray.",
    "NutAssemblySquare": "Put the square nut on the square peg.",
    "NutAssemblyRound": "Put the round nut on the round peg.",
    "Door": "Open the door.",
    "PickPlace": "Put everything in the tray of its own colour.",
}
