;; Futures and agents change atoms and refs.
(def total (atom 0))
(def account (ref 100))
(def tasks
  (doall (for [i (range 4)]
           (future
             (dotimes [k 5]
               (swap! total + k)
               (dosync (alter account dec)))))))
(doseq [task tasks] @task)
(println "total" @total "account" @account)
(shutdown-agents)
