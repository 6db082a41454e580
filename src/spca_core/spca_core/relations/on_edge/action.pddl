(:action place_on_edge
    :parameters (?c - solid ?p - plate)
    :precondition (and (holding ?c) (not (waits ?c)))
    :effect (and
      (not (holding ?c)) (hand_empty) (on_edge ?c ?p)
      (forall (?y - item) (when (before ?c ?y) (not (waits ?y))))
      (increase (total-cost) 3)))
