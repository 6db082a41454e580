(define (problem p) (:domain blocksworld) (:objects a b) (:init (arm-empty) (on-table a) (on-table b) (clear a) (clear b)) (:goal (and (on a b))))
