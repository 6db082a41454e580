(define (domain tyreworld)
  (:requirements :strips :typing)
  (:types boot hub thing - object tool wheel nut - thing wrench jack pump - tool)
  (:predicates (is_open ?boot - boot) (is_closed ?boot - boot) (in ?thing - thing ?boot - boot)
               (have ?thing - thing) (on_ground ?hub - hub) (is_up ?hub - hub) (under ?jack - jack ?hub - hub)
               (tight ?nut - nut ?hub - hub) (loose ?nut - nut ?hub - hub) (fastened ?hub - hub)
               (unfastened ?hub - hub) (on ?wheel - wheel ?hub - hub) (bare ?hub - hub)
               (whole ?wheel - wheel) (airless ?wheel - wheel) (inflated ?wheel - wheel))
  (:action open
    :parameters (?boot - boot)
    :precondition (is_closed ?boot)
    :effect (and (is_open ?boot) (not (is_closed ?boot))))
  (:action close
    :parameters (?boot - boot)
    :precondition (is_open ?boot)
    :effect (and (is_closed ?boot) (not (is_open ?boot))))
  (:action fetch
    :parameters (?thing - thing ?boot - boot)
    :precondition (and (in ?thing ?boot) (is_open ?boot))
    :effect (and (have ?thing) (not (in ?thing ?boot))))
  (:action put_away
    :parameters (?thing - thing ?boot - boot)
    :precondition (and (have ?thing) (is_open ?boot))
    :effect (and (in ?thing ?boot) (not (have ?thing))))
  (:action loosen
    :parameters (?nut - nut ?hub - hub ?wrench - wrench)
    :precondition (and (have ?wrench) (tight ?nut ?hub) (on_ground ?hub))
    :effect (and (loose ?nut ?hub) (not (tight ?nut ?hub))))
  (:action tighten
    :parameters (?nut - nut ?hub - hub ?wrench - wrench)
    :precondition (and (have ?wrench) (loose ?nut ?hub) (on_ground ?hub))
    :effect (and (tight ?nut ?hub) (not (loose ?nut ?hub))))
  (:action jack_up
    :parameters (?hub - hub ?jack - jack)
    :precondition (and (on_ground ?hub) (have ?jack))
    :effect (and (is_up ?hub) (under ?jack ?hub) (not (on_ground ?hub)) (not (have ?jack))))
  (:action jack_down
    :parameters (?hub - hub ?jack - jack)
    :precondition (and (is_up ?hub) (under ?jack ?hub))
    :effect (and (on_ground ?hub) (have ?jack) (not (is_up ?hub)) (not (under ?jack ?hub))))
  (:action undo
    :parameters (?nut - nut ?hub - hub ?wrench - wrench)
    :precondition (and (is_up ?hub) (fastened ?hub) (have ?wrench) (loose ?nut ?hub))
    :effect (and (have ?nut) (unfastened ?hub) (not (fastened ?hub)) (not (loose ?nut ?hub))))
  (:action do_up
    :parameters (?nut - nut ?hub - hub ?wrench - wrench)
    :precondition (and (is_up ?hub) (unfastened ?hub) (have ?wrench) (have ?nut))
    :effect (and (loose ?nut ?hub) (fastened ?hub) (not (unfastened ?hub)) (not (have ?nut))))
  (:action remove_wheel
    :parameters (?wheel - wheel ?hub - hub)
    :precondition (and (is_up ?hub) (on ?wheel ?hub) (unfastened ?hub))
    :effect (and (have ?wheel) (bare ?hub) (not (on ?wheel ?hub))))
  (:action put_on_wheel
    :parameters (?wheel - wheel ?hub - hub)
    :precondition (and (is_up ?hub) (have ?wheel) (bare ?hub) (unfastened ?hub))
    :effect (and (on ?wheel ?hub) (not (bare ?hub)) (not (have ?wheel))))
  (:action inflate
    :parameters (?wheel - wheel ?pump - pump)
    :precondition (and (have ?wheel) (have ?pump) (whole ?wheel) (airless ?wheel))
    :effect (and (inflated ?wheel) (not (airless ?wheel)))))
