// Coroutines receive orders from a channel and add them to a total. In `OrdersKt` they read and write it in two steps, on the threads of
// Dispatchers.Default; in `OrdersFixed` they hold a mutex.
import kotlinx.coroutines.Dispatchers
import kotlinx.coroutines.channels.Channel
import kotlinx.coroutines.launch
import kotlinx.coroutines.runBlocking
import kotlinx.coroutines.sync.Mutex
import kotlinx.coroutines.sync.withLock

var total = 0

fun add(order: Int) {
    total += order
}

fun sum(handle: suspend (Int) -> Unit) = runBlocking {
    val orders = Channel<Int>(4)
    launch(Dispatchers.IO) {
        for (order in 1..2) orders.send(order)
        orders.close()
    }
    repeat(2) {
        launch(Dispatchers.Default) {
            for (order in orders) handle(order)
        }
    }
}

fun check() {
    check(total == 3) { "the total is $total" }
}

fun main() {
    sum { add(it) }
    check()
}

object OrdersFixed {
    @JvmStatic
    fun main(args: Array<String>) {
        val mutex = Mutex()
        sum { mutex.withLock { add(it) } }
        check()
    }
}
