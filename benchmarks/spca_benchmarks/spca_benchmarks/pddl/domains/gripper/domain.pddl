(define (domain gripper)
  (:requirements :strips :typing)
  (:types room ball hand)
  (:predicates (robot_in ?room - room) (lies_in ?ball - ball ?room - room) (free ?hand - hand)
               (holds ?hand - hand ?ball - ball))
  (:action move
    :parameters (?from - room ?to - room)
    :precondition (robot_in ?from)
    :effect (and (not (robot_in ?from)) (robot_in ?to)))
  (:action pick
    :parameters (?ball - ball ?room - room ?hand - hand)
    :precondition (and (lies_in ?ball ?room) (robot_in ?room) (free ?hand))
    :effect (and (holds ?hand ?ball) (not (lies_in ?ball ?room)) (not (free ?hand))))
  (:action drop
    :parameters (?ball - ball ?room - room ?hand - hand)
    :precondition (and (holds ?hand ?ball) (robot_in ?room))
    :effect (and (lies_in ?ball ?room) (free ?hand) (not (holds ?hand ?ball)))))
