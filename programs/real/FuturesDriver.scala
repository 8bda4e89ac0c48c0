// Futures on the global execution context, combined and awaited.
import java.util.concurrent.atomic.AtomicInteger
import scala.concurrent.{Await, Future}
import scala.concurrent.ExecutionContext.Implicits.global
import scala.concurrent.duration._

object FuturesDriver {
  private val total = new AtomicInteger()

  private def work(own: Int): Future[Int] =
    Future {
      (1 to 5).foreach(k => total.addAndGet(k))
      own
    }.map(_ * 2)

  def main(arguments: Array[String]): Unit = {
    val all = Future.sequence((1 to 4).map(work)).map(_.sum)
    val sum = Await.result(all, 60.seconds)
    println(s"total ${total.get()} sum $sum")
  }
}
