(define (domain shelf)
  (:requirements :strips :typing)
  (:types box shelf - thing)
  (:predicates (on ?b - box ?s - shelf) (free ?s - shelf) (shut))
  (:action move
    :parameters (?b - box ?from ?to - shelf)
    :precondition (and (on ?b ?from) (free ?to)) ; a comment (with parentheses)
    :effect (and (on ?b ?to) (not (on ?b ?from))))
  (:action close
    :parameters ()
    :precondition (not (shut))
    :effect (shut)))
