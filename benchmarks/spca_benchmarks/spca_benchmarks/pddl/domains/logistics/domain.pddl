(define (domain logistics)
  (:requirements :strips :typing)
  (:types place city truck airplane package - object airport - place)
  (:predicates (in_city ?place - place ?city - city) (truck_at ?truck - truck ?place - place)
               (airplane_at ?airplane - airplane ?airport - airport)
               (package_at ?package - package ?place - place) (in_truck ?package - package ?truck - truck)
               (in_airplane ?package - package ?airplane - airplane))
  (:action load_truck
    :parameters (?package - package ?truck - truck ?place - place)
    :precondition (and (package_at ?package ?place) (truck_at ?truck ?place))
    :effect (and (in_truck ?package ?truck) (not (package_at ?package ?place))))
  (:action unload_truck
    :parameters (?package - package ?truck - truck ?place - place)
    :precondition (and (in_truck ?package ?truck) (truck_at ?truck ?place))
    :effect (and (package_at ?package ?place) (not (in_truck ?package ?truck))))
  (:action load_airplane
    :parameters (?package - package ?airplane - airplane ?airport - airport)
    :precondition (and (package_at ?package ?airport) (airplane_at ?airplane ?airport))
    :effect (and (in_airplane ?package ?airplane) (not (package_at ?package ?airport))))
  (:action unload_airplane
    :parameters (?package - package ?airplane - airplane ?airport - airport)
    :precondition (and (in_airplane ?package ?airplane) (airplane_at ?airplane ?airport))
    :effect (and (package_at ?package ?airport) (not (in_airplane ?package ?airplane))))
  (:action drive_truck
    :parameters (?truck - truck ?from - place ?to - place ?city - city)
    :precondition (and (truck_at ?truck ?from) (in_city ?from ?city) (in_city ?to ?city))
    :effect (and (truck_at ?truck ?to) (not (truck_at ?truck ?from))))
  (:action fly_airplane
    :parameters (?airplane - airplane ?from - airport ?to - airport)
    :precondition (airplane_at ?airplane ?from)
    :effect (and (airplane_at ?airplane ?to) (not (airplane_at ?airplane ?from)))))
