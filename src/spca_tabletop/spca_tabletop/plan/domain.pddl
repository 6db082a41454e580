; The table: solid things, what they are put on or into, one gripper. Every action is a skill of the same name with the same arguments.
(define (domain tabletop)
  (:requirements :strips :typing :negative-preconditions :equality :conditional-effects :action-costs)
  (:types
    thing - object
    item surface - thing
    solid support - item
    place - object                   ; on the table, in a relation to things: left_of__cube_green
    cube cuboid cylinder ball - solid
    plate mat bowl tray - support)
  (:constants table - surface)
  (:predicates
    (on ?c - item ?x - thing)        ; ?c rests on ?x, or in it
    (clear ?x - thing)               ; there is room on ?x: always so on the table, on plates, in bowls and trays
    (one_place ?x - support)         ; takes one thing only
    (unfit ?c - solid ?x - thing)    ; ?c must not be put on ?x
    (kept ?x - item)                 ; must be left alone
    (stays ?c - solid)               ; must not be picked up
    (before ?a ?b - item)            ; ?a is to be touched, or put where it belongs, before ?b
    (waits ?x - item)                ; its turn has not come yet
    (too_large ?c - solid)           ; the gripper does not fit around ?c
    (half_free ?x - thing)           ; there is room on ?x for a bridge: nothing on its middle, one bridge at most
    (bridging)                       ; the task asks for bridges
    (spanned ?a ?b - solid)          ; something rests on both
    (bridge ?c - solid)              ; it lies across two things
    (holding ?c - solid)
    (hand_empty)
    (touched ?x - item)              ; the fingers have touched ?x since the beginning
    (next_to ?a ?b - item)           ; ?a was put, or is seen, on the table beside ?b, touching it
    (abreast ?a ?b - item)           ; side by side, on the table or on the same thing: near enough for a third across both
    (across ?c ?a ?b - solid)        ; a bridge over two things that stand side by side
    (blocks ?b - solid ?x - item)     ; ?b is in the way of grasping ?x, or of putting something on it
    (blocked ?x - item)              ; by something that has to be moved first
    (hems ?b - solid ?x - solid)     ; no grasp of ?x is free; it can be pushed out, and ?b moves with it, as ?x itself does
    (loose ?x - solid)               ; it can be pushed out, and nothing moves with it that must be left alone
    (crowds ?b - solid ?x - item)     ; ?b is in the way of putting something next to ?x
    (crowded ?x - item)
    (put_down ?c - solid)            ; ?c has been put on the table since the beginning
    (at ?c - solid ?p - place)       ; ?c stands there
    (of ?p - place ?x - item)        ; ?p is told by where ?x is
    (obstructs ?b - solid ?p - place) ; ?b is in the way of putting something there
    (obstructed ?p - place))
  (:functions (total-cost) - number) ; what gets in the way is best put on the table, never thrown off it

  (:action touch
    :parameters (?x - item)
    :precondition (and (hand_empty) (clear ?x) (not (kept ?x)) (not (waits ?x)))
    :effect (and
      (touched ?x) (forall (?y - item) (when (before ?x ?y) (not (waits ?y)))) (increase (total-cost) 1)))

  (:action pick_up
    :parameters (?c - solid ?from - thing)
    :precondition (and
      (hand_empty) (clear ?c) (on ?c ?from) (not (bridge ?c)) (not (blocked ?c)) (not (too_large ?c)) (not (kept ?c)) (not (stays ?c)))
    :effect (and
      (holding ?c)
      (not (hand_empty))
      (forall (?x - thing) (not (on ?c ?x)))
      (clear ?from) (half_free ?from)
      (forall (?x - item) (and
        (not (next_to ?c ?x)) (not (next_to ?x ?c)) (not (abreast ?c ?x)) (not (abreast ?x ?c))))
      (forall (?x - item) (and (when (blocks ?c ?x) (not (blocked ?x))) (when (crowds ?c ?x) (not (crowded ?x)))))
      ;ended
      (forall (?p - place) (and (not (at ?c ?p)) (when (obstructs ?c ?p) (not (obstructed ?p)))))
      (forall (?p - place ?o - solid) (when (of ?p ?c) (not (at ?o ?p))))
      (not (crowded ?c))
      (increase (total-cost) 1)))

  (:action push_out
    :parameters (?c - solid)
    :precondition (and (hand_empty) (clear ?c) (loose ?c) (on ?c table) (not (kept ?c)) (not (stays ?c)))
    :effect (and
      (not (blocked ?c)) (not (loose ?c)) (forall (?o - solid) (when (hems ?o ?c) (not (hems ?o ?c))))
      (forall (?p - place) (not (at ?c ?p)))
      (increase (total-cost) 5)))

  (:action place_on
    :parameters (?c - solid ?p - support)
    :precondition (and (holding ?c) (not (waits ?c)) (clear ?p) (not (unfit ?c ?p)) (not (blocked ?p)))
    :effect (and
      (not (holding ?c)) (hand_empty) (on ?c ?p)
      (when (one_place ?p) (not (clear ?p)))
      (forall (?y - item) (when (before ?c ?y) (not (waits ?y))))
      (increase (total-cost) 2)))

  (:action stack_on
    :parameters (?c - solid ?base - solid)
    :precondition (and (holding ?c) (not (waits ?c)) (clear ?base) (not (= ?c ?base)) (not (unfit ?c ?base)))
    :effect (and
      (not (holding ?c)) (hand_empty) (on ?c ?base) (not (clear ?base)) (not (half_free ?base))
      (forall (?y - item) (when (before ?c ?y) (not (waits ?y))))
      (increase (total-cost) 2)))

  (:action place_on_table
    :parameters (?c - solid)
    :precondition (and (holding ?c) (not (unfit ?c table)))
    :effect (and (not (holding ?c)) (hand_empty) (on ?c table) (put_down ?c) (increase (total-cost) 1)))

  (:action place_at
    :parameters (?c - solid ?p - place)
    :precondition (and (holding ?c) (not (waits ?c)) (not (obstructed ?p)) (not (unfit ?c table)))
    :effect (and
      (not (holding ?c)) (hand_empty) (on ?c table) (at ?c ?p) (put_down ?c)
      (forall (?y - item) (when (before ?c ?y) (not (waits ?y))))
      (increase (total-cost) 2)))

  (:action place_next_to
    :parameters (?c - solid ?other - item)
    :precondition (and (holding ?c) (not (waits ?c)) (on ?other table) (not (crowded ?other)) (not (unfit ?c table)))
    :effect (and
      (not (holding ?c)) (hand_empty) (on ?c table) (next_to ?c ?other)
      (abreast ?c ?other) (abreast ?other ?c)
      (forall (?y - item) (when (before ?c ?y) (not (waits ?y))))
      (increase (total-cost) 2)))

  (:action place_across
    :parameters (?c - solid ?a - solid ?b - solid)
    :precondition (and
      (bridging) (holding ?c) (not (waits ?c)) (abreast ?a ?b) (half_free ?a) (half_free ?b) (not (spanned ?a ?b)))
    :effect (and
      (not (holding ?c)) (hand_empty) (across ?c ?a ?b) (bridge ?c) (spanned ?a ?b) (spanned ?b ?a)
      (on ?c ?a) (on ?c ?b) (not (clear ?a)) (not (clear ?b))
      (when (not (clear ?a)) (not (half_free ?a))) (when (not (clear ?b)) (not (half_free ?b)))
      (forall (?o - solid) (when (on ?o ?a) (and (abreast ?c ?o) (abreast ?o ?c))))
      (forall (?o - solid) (when (on ?o ?b) (and (abreast ?c ?o) (abreast ?o ?c))))
      (forall (?y - item) (when (before ?c ?y) (not (waits ?y))))
      (increase (total-cost) 2)))

  (:action take_down
    :parameters (?c - solid ?a - solid ?b - solid)
    :precondition (and (hand_empty) (clear ?c) (across ?c ?a ?b) (not (blocked ?c)) (not (kept ?c)) (not (stays ?c)))
    :effect (and
      (holding ?c) (not (hand_empty)) (not (bridge ?c)) (not (on ?c ?a)) (not (on ?c ?b))
      (not (across ?c ?a ?b)) (not (across ?c ?b ?a)) (not (spanned ?a ?b)) (not (spanned ?b ?a))
      (when (half_free ?a) (clear ?a)) (half_free ?a) (when (half_free ?b) (clear ?b)) (half_free ?b)
      (forall (?x - item) (and (not (abreast ?c ?x)) (not (abreast ?x ?c))))
      (increase (total-cost) 1))))
