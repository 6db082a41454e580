; Its translation alone takes ages: 12⁸ ground actions.
(define (domain wide) (:predicates (r ?a ?b) (done))
  (:action all :parameters (?a ?b ?c ?d ?e ?f ?g ?h)
     :precondition (and (r ?a ?b) (r ?c ?d) (r ?e ?f) (r ?g ?h))
    :effect (done)))
