; What an agent can do on a MiniGrid level. Things are named as the mission names them; several may be meant by a name.
(define (domain minigrid)
  (:requirements :typing :negative-preconditions :disjunctive-preconditions :universal-preconditions)
  (:types thing - object
          door square portable - thing
          key ball box something - portable)
  (:predicates
    (located ?t - thing)            ; it is known where it is
    (to_visit ?t - thing)           ; what the mission wants of it
    (to_enter ?s - square)
    (to_open ?d - door)
    (to_take ?p - portable)
    (to_bring ?p - portable ?t - thing)
    (to_match ?t ?s - thing)        ; it wants ?t to be the one that is like the sample ?s
    (before ?a ?b - thing)          ; it wants ?a to be dealt with before ?b
    (settled ?t - thing)            ; what it wants of it is done
    (beside ?p - portable ?t - thing)
    (reported ?t - thing)
    (hand_free)
    (held ?p - portable)
    (locked ?d - door)
    (opens ?k - key ?d - door))

  (:action find
    :parameters (?t - thing)
    :precondition (and (not (located ?t)) (forall (?o - thing) (not (or (to_match ?t ?o) (to_match ?o ?t)))))
    :effect (located ?t))

  (:action memorize
    :parameters (?s ?t - thing)
    :precondition (and (not (located ?s)) (to_match ?t ?s))
    :effect (located ?s))

  (:action find_match
    :parameters (?t ?s - thing)
    :precondition (and (not (located ?t)) (located ?s) (to_match ?t ?s))
    :effect (located ?t))

  (:action go_to
    :parameters (?t - thing)
    :precondition (and (located ?t) (to_visit ?t) (forall (?e - thing) (or (not (before ?e ?t)) (settled ?e))))
    :effect (settled ?t))

  (:action enter
    :parameters (?s - square)
    :precondition (and (located ?s) (to_enter ?s) (forall (?e - thing) (or (not (before ?e ?s)) (settled ?e))))
    :effect (settled ?s))

  (:action open_door
    :parameters (?d - door)
    :precondition (and (located ?d) (to_open ?d) (not (locked ?d))
                       (forall (?e - thing) (or (not (before ?e ?d)) (settled ?e))))
    :effect (settled ?d))

  (:action unlock_door
    :parameters (?d - door ?k - key)
    :precondition (and (located ?d) (to_open ?d) (locked ?d) (opens ?k ?d) (held ?k)
                       (forall (?e - thing) (or (not (before ?e ?d)) (settled ?e))))
    :effect (and (not (locked ?d)) (settled ?d)))

  (:action pick_up
    :parameters (?p - portable)
    :precondition (and (located ?p) (to_take ?p) (hand_free)
                       (forall (?e - thing) (or (not (before ?e ?p)) (settled ?e))))
    :effect (and (held ?p) (settled ?p) (not (hand_free)) (not (located ?p))))

  (:action put_down
    :parameters (?p - portable)
    :precondition (held ?p)
    :effect (and (hand_free) (located ?p) (not (held ?p))))

  (:action put_next_to
    :parameters (?p - portable ?t - thing)
    :precondition (and (held ?p) (located ?t) (to_bring ?p ?t)
                       (forall (?e - thing) (or (not (before ?e ?t)) (settled ?e))))
    :effect (and (beside ?p ?t) (settled ?t) (hand_free) (located ?p) (not (held ?p))))

  (:action report
    :parameters (?t - thing)
    :precondition (settled ?t)
    :effect (reported ?t)))
