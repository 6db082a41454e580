(define (problem p) (:domain shelf)
  (:objects a - box s t - shelf)
  (:init (on a s) (free t))
  (:goal (and (on a t) (shut))))
