(define (domain detour) (:predicates (at0) (at1) (there)) (:functions (total-cost) - number)
  (:action jump :parameters () :precondition (at0) :effect (and (there) (increase (total-cost) 9)))
  (:action walk :parameters () :precondition (at0) :effect (and (at1) (increase (total-cost) 1)))
  (:action arrive :parameters () :precondition (at1) :effect (and (there) (increase (total-cost) 1))))
