(define (domain corridor)
  (:requirements :strips :typing)
  (:types cell)
  (:predicates (at ?c - cell) (joined ?a ?b - cell))
  (:action walk
    :parameters (?from ?to - cell)
    :precondition (and (at ?from) (joined ?from ?to))
    :effect (and (at ?to) (not (at ?from)))))
