(:action discard
    :parameters (?c - solid)
    :precondition (and (holding ?c) (not (waits ?c)))
    :effect (and
      (not (holding ?c)) (hand_empty) (discarded ?c) (not (clear ?c))
      (forall (?y - item) (when (before ?c ?y) (not (waits ?y))))
      (increase (total-cost) 9)))
