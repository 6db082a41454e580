(define (problem p) (:domain rooms) (:objects hall attic cellar - room k - key)
  (:init (at hall) (open hall) (locked attic) (lies k hall) (door hall attic) (door attic hall))
  (:goal (and (at attic))))
