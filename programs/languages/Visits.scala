// Futures of the global execution context count visits: `Visits` reads and writes the number in two steps, `VisitsFixed` holds a lock.
import scala.concurrent.ExecutionContext.Implicits.global
import scala.concurrent.duration.Duration
import scala.concurrent.{Await, Future}

class Counter {
  var visits = 0

  def visit(): Unit = visits += 1
}

object Visits {
  def count(counter: Counter)(visit: => Unit): Unit = {
    val visitors = Future.sequence(Seq.fill(2)(Future(visit)))
    Await.result(visitors, Duration.Inf)
    if (counter.visits != 2) throw new IllegalStateException("visits: " + counter.visits)
  }

  def main(args: Array[String]): Unit = {
    val counter = new Counter
    count(counter)(counter.visit())
  }
}

object VisitsFixed {
  def main(args: Array[String]): Unit = {
    val counter = new Counter
    Visits.count(counter)(counter.synchronized(counter.visit()))
  }
}
