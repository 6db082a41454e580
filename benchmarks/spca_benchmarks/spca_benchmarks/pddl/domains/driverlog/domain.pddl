(define (domain driverlog)
  (:requirements :strips :typing)
  (:types place driver truck package)
  (:predicates (driver_at ?driver - driver ?place - place) (truck_at ?truck - truck ?place - place)
               (package_at ?package - package ?place - place) (in ?package - package ?truck - truck)
               (driving ?driver - driver ?truck - truck) (empty ?truck - truck)
               (road ?from - place ?to - place) (path ?from - place ?to - place))
  (:action load
    :parameters (?package - package ?truck - truck ?place - place)
    :precondition (and (package_at ?package ?place) (truck_at ?truck ?place))
    :effect (and (in ?package ?truck) (not (package_at ?package ?place))))
  (:action unload
    :parameters (?package - package ?truck - truck ?place - place)
    :precondition (and (in ?package ?truck) (truck_at ?truck ?place))
    :effect (and (package_at ?package ?place) (not (in ?package ?truck))))
  (:action board
    :parameters (?driver - driver ?truck - truck ?place - place)
    :precondition (and (driver_at ?driver ?place) (truck_at ?truck ?place) (empty ?truck))
    :effect (and (driving ?driver ?truck) (not (driver_at ?driver ?place)) (not (empty ?truck))))
  (:action disembark
    :parameters (?driver - driver ?truck - truck ?place - place)
    :precondition (and (driving ?driver ?truck) (truck_at ?truck ?place))
    :effect (and (driver_at ?driver ?place) (empty ?truck) (not (driving ?driver ?truck))))
  (:action drive
    :parameters (?truck - truck ?from - place ?to - place ?driver - driver)
    :precondition (and (driving ?driver ?truck) (truck_at ?truck ?from) (road ?from ?to))
    :effect (and (truck_at ?truck ?to) (not (truck_at ?truck ?from))))
  (:action walk
    :parameters (?driver - driver ?from - place ?to - place)
    :precondition (and (driver_at ?driver ?from) (path ?from ?to))
    :effect (and (driver_at ?driver ?to) (not (driver_at ?driver ?from)))))
