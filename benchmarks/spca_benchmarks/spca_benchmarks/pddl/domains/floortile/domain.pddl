(define (domain floortile)
  (:requirements :strips :typing)
  (:types tile robot colour)
  (:predicates (above ?upper - tile ?lower - tile) (left_of ?left - tile ?right - tile)
               (on ?robot - robot ?tile - tile) (clear ?tile - tile) (painted ?tile - tile ?colour - colour)
               (brush ?robot - robot ?colour - colour) (available ?colour - colour))
  (:action change_colour
    :parameters (?robot - robot ?old - colour ?new - colour)
    :precondition (and (brush ?robot ?old) (available ?new))
    :effect (and (not (brush ?robot ?old)) (brush ?robot ?new)))
  (:action paint_up
    :parameters (?robot - robot ?tile - tile ?from - tile ?colour - colour)
    :precondition (and (on ?robot ?from) (above ?tile ?from) (clear ?tile) (brush ?robot ?colour))
    :effect (and (painted ?tile ?colour) (not (clear ?tile))))
  (:action paint_down
    :parameters (?robot - robot ?tile - tile ?from - tile ?colour - colour)
    :precondition (and (on ?robot ?from) (above ?from ?tile) (clear ?tile) (brush ?robot ?colour))
    :effect (and (painted ?tile ?colour) (not (clear ?tile))))
  (:action move_up
    :parameters (?robot - robot ?from - tile ?to - tile)
    :precondition (and (on ?robot ?from) (above ?to ?from) (clear ?to))
    :effect (and (on ?robot ?to) (clear ?from) (not (on ?robot ?from)) (not (clear ?to))))
  (:action move_down
    :parameters (?robot - robot ?from - tile ?to - tile)
    :precondition (and (on ?robot ?from) (above ?from ?to) (clear ?to))
    :effect (and (on ?robot ?to) (clear ?from) (not (on ?robot ?from)) (not (clear ?to))))
  (:action move_left
    :parameters (?robot - robot ?from - tile ?to - tile)
    :precondition (and (on ?robot ?from) (left_of ?to ?from) (clear ?to))
    :effect (and (on ?robot ?to) (clear ?from) (not (on ?robot ?from)) (not (clear ?to))))
  (:action move_right
    :parameters (?robot - robot ?from - tile ?to - tile)
    :precondition (and (on ?robot ?from) (left_of ?from ?to) (clear ?to))
    :effect (and (on ?robot ?to) (clear ?from) (not (on ?robot ?from)) (not (clear ?to)))))
