; Two futures withdraw money, and an agent keeps a log of it. The check and the withdrawal are two transactions on a ref, so that the account
; may be overdrawn.
(ns withdrawals)

(def balance (ref 100))
(def log (agent []))

(defn withdraw [amount]
  (when (dosync (>= (ensure balance) amount))
    (dosync
      (alter balance - amount)
      (send log conj amount))))

(let [both [(future (withdraw 70)) (future (withdraw 60))]]
  (doseq [one both] @one)
  (await log)
  (shutdown-agents)
  (when (neg? @balance)
    (throw (IllegalStateException. (str "overdrawn: " @balance)))))
