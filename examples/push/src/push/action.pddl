; Push a cube over the table until it touches another.
(:action push
  :parameters (?c - cube ?other - cube)
  :precondition (and (hand_empty) (clear ?c) (on ?c table) (on ?other table) (not (= ?c ?other)))
  :effect (and (next_to ?c ?other) (pushed_against ?c ?other) (increase (total-cost) 4)))
