// Coroutines on the default dispatcher share a counter under a mutex and await each other's results.
import kotlinx.coroutines.Dispatchers
import kotlinx.coroutines.async
import kotlinx.coroutines.awaitAll
import kotlinx.coroutines.delay
import kotlinx.coroutines.runBlocking
import kotlinx.coroutines.sync.Mutex
import kotlinx.coroutines.sync.withLock
import kotlinx.coroutines.withContext
import kotlinx.coroutines.yield

class Counter {
    private val mutex = Mutex()
    private var count = 0

    suspend fun add(amount: Int) = mutex.withLock {
        val before = count
        yield()
        count = before + amount
    }

    suspend fun get() = mutex.withLock { count }
}

suspend fun work(counter: Counter, own: Int): Int {
    var sum = 0
    for (k in 1..5) {
        counter.add(k)
        sum += withContext(Dispatchers.IO) { k * own }
        delay(1)
    }
    return sum
}

fun main() = runBlocking(Dispatchers.Default) {
    val counter = Counter()
    val sums = (1..4).map { own -> async { work(counter, own) } }.awaitAll()
    println("count ${counter.get()} sum ${sums.sum()}")
}
