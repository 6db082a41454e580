(define (domain blocksworld)
  (:requirements :strips :typing)
  (:types block)
  (:predicates (on ?block - block ?below - block) (on_table ?block - block) (clear ?block - block)
               (holding ?block - block) (arm_empty))
  (:action pick_up
    :parameters (?block - block)
    :precondition (and (on_table ?block) (clear ?block) (arm_empty))
    :effect (and (holding ?block) (not (on_table ?block)) (not (clear ?block)) (not (arm_empty))))
  (:action put_down
    :parameters (?block - block)
    :precondition (holding ?block)
    :effect (and (on_table ?block) (clear ?block) (arm_empty) (not (holding ?block))))
  (:action stack
    :parameters (?block - block ?below - block)
    :precondition (and (holding ?block) (clear ?below))
    :effect (and (on ?block ?below) (clear ?block) (arm_empty) (not (holding ?block)) (not (clear ?below))))
  (:action unstack
    :parameters (?block - block ?below - block)
    :precondition (and (on ?block ?below) (clear ?block) (arm_empty))
    :effect (and (holding ?block) (clear ?below)
                 (not (on ?block ?below)) (not (clear ?block)) (not (arm_empty)))))
