; The table: cubes, plates, one gripper. Every action is a skill of the same name with the same arguments.
(define (domain tabletop)
  (:requirements :strips :typing :negative-preconditions :equality :conditional-effects :action-costs)
  (:types
    item table - thing
    cube plate - item)
  (:constants table - table)
  (:predicates
    (on ?c - cube ?x - thing)        ; ?c rests on ?x
    (clear ?x - thing)               ; there is room on ?x: always so on the table and on plates
    (holding ?c - cube)
    (hand_empty)
    (touched ?x - item)
    (next_to ?a ?b - cube)           ; ?a was put, or is seen, on the table beside ?b, touching it
    (on_edge ?c - cube ?p - plate)   ; half on the plate, half on the table
    (across ?c ?a ?b - cube)         ; a bridge over two cubes that stand side by side
    (discarded ?c - cube))           ; on the ground, out of reach
  (:functions (total-cost) - number) ; what gets in the way is best put on the table, never thrown off it

  (:action touch
    :parameters (?x - item)
    :precondition (and (hand_empty) (clear ?x))
    :effect (and (touched ?x) (increase (total-cost) 1)))

  (:action pick_up
    :parameters (?c - cube ?from - thing)
    :precondition (and (hand_empty) (clear ?c) (on ?c ?from))
    :effect (and
      (holding ?c)
      (not (hand_empty))
      (forall (?x - thing) (when (on ?c ?x) (and (not (on ?c ?x)) (clear ?x))))
      (forall (?x - cube) (and (not (next_to ?c ?x)) (not (next_to ?x ?c))))
      (increase (total-cost) 1)))

  (:action place_on
    :parameters (?c - cube ?p - plate)
    :precondition (holding ?c)
    :effect (and (not (holding ?c)) (hand_empty) (on ?c ?p) (increase (total-cost) 2)))

  (:action stack_on
    :parameters (?c - cube ?base - cube)
    :precondition (and (holding ?c) (clear ?base) (not (= ?c ?base)))
    :effect (and
      (not (holding ?c)) (hand_empty) (on ?c ?base) (not (clear ?base))
      (increase (total-cost) 2)))

  (:action place_on_table
    :parameters (?c - cube)
    :precondition (holding ?c)
    :effect (and (not (holding ?c)) (hand_empty) (on ?c table) (increase (total-cost) 1)))

  (:action place_next_to
    :parameters (?c - cube ?other - cube)
    :precondition (and (holding ?c) (on ?other table))
    :effect (and
      (not (holding ?c)) (hand_empty) (on ?c table) (next_to ?c ?other)
      (increase (total-cost) 2)))

  (:action place_on_edge
    :parameters (?c - cube ?p - plate)
    :precondition (holding ?c)
    :effect (and (not (holding ?c)) (hand_empty) (on_edge ?c ?p) (increase (total-cost) 3)))

  (:action place_across
    :parameters (?c - cube ?a - cube ?b - cube)
    :precondition (and (holding ?c) (next_to ?a ?b) (clear ?a) (clear ?b))
    :effect (and
      (not (holding ?c)) (hand_empty) (across ?c ?a ?b) (not (clear ?a)) (not (clear ?b))
      (increase (total-cost) 2)))

  (:action discard
    :parameters (?c - cube)
    :precondition (holding ?c)
    :effect (and (not (holding ?c)) (hand_empty) (discarded ?c) (not (clear ?c)) (increase (total-cost) 9))))
