(define (domain termes)
  (:requirements :strips :typing :negative-preconditions)
  (:types cell level)
  (:predicates (height ?cell - cell ?level - level) (robot_on ?cell - cell) (carrying) (is_depot ?cell - cell)
               (next_level ?high - level ?low - level) (neighbours ?from - cell ?to - cell))
  (:action move
    :parameters (?from - cell ?to - cell ?level - level)
    :precondition (and (robot_on ?from) (neighbours ?from ?to) (height ?from ?level) (height ?to ?level))
    :effect (and (robot_on ?to) (not (robot_on ?from))))
  (:action move_up
    :parameters (?from - cell ?low - level ?to - cell ?high - level)
    :precondition (and (robot_on ?from) (neighbours ?from ?to) (height ?from ?low) (height ?to ?high)
                       (next_level ?high ?low))
    :effect (and (robot_on ?to) (not (robot_on ?from))))
  (:action move_down
    :parameters (?from - cell ?high - level ?to - cell ?low - level)
    :precondition (and (robot_on ?from) (neighbours ?from ?to) (height ?from ?high) (height ?to ?low)
                       (next_level ?high ?low))
    :effect (and (robot_on ?to) (not (robot_on ?from))))
  (:action place_block
    :parameters (?robot_cell - cell ?target - cell ?low - level ?high - level)
    :precondition (and (robot_on ?robot_cell) (neighbours ?robot_cell ?target) (height ?robot_cell ?low)
                       (height ?target ?low) (next_level ?high ?low) (carrying) (not (is_depot ?target)))
    :effect (and (height ?target ?high) (not (height ?target ?low)) (not (carrying))))
  (:action remove_block
    :parameters (?robot_cell - cell ?target - cell ?high - level ?low - level)
    :precondition (and (robot_on ?robot_cell) (neighbours ?robot_cell ?target) (height ?robot_cell ?low)
                       (height ?target ?high) (next_level ?high ?low) (not (carrying)))
    :effect (and (height ?target ?low) (not (height ?target ?high)) (carrying)))
  (:action create_block
    :parameters (?depot - cell)
    :precondition (and (robot_on ?depot) (is_depot ?depot) (not (carrying)))
    :effect (carrying))
  (:action destroy_block
    :parameters (?depot - cell)
    :precondition (and (robot_on ?depot) (is_depot ?depot) (carrying))
    :effect (not (carrying))))
