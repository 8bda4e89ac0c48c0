; Two futures withdraw money, and an agent keeps a log of it. The check and the withdrawal are one transaction on a ref.
(ns withdrawals-fixed)

(def balance (ref 100))
(def log (agent []))

(defn withdraw [amount]
  (dosync
    (when (>= @balance amount)
      (alter balance - amount)
      (send log conj amount))))

(let [both [(future (withdraw 70)) (future (withdraw 60))]]
  (doseq [one both] @one)
  (await log)
  (shutdown-agents)
  (when (neg? @balance)
    (throw (IllegalStateException. (str "overdrawn: " @balance)))))
