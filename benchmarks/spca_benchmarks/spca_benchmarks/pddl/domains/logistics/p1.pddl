(define (problem p1)
  (:domain logistics)
  (:objects oslo lima - city oslo_airport lima_airport - airport oslo_office lima_shop - place
            truck1 truck2 - truck airplane1 - airplane package1 package2 package3 - package)
  (:init (in_city oslo_airport oslo) (in_city oslo_office oslo) (in_city lima_airport lima) (in_city lima_shop lima)
         (truck_at truck1 oslo_airport) (truck_at truck2 lima_shop) (airplane_at airplane1 lima_airport)
         (package_at package1 oslo_office) (package_at package2 oslo_office) (package_at package3 lima_shop))
  (:goal (and (package_at package1 lima_shop) (package_at package2 oslo_airport)
              (package_at package3 oslo_office))))
