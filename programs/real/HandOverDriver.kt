// Coroutines hand objects over in every usual way: by a mutex that is held across a suspension, by awaiting, joining, a scope, a channel,
// a semaphore, a flow and another dispatcher. Two fields are shared without any of that: these races are real.
import kotlinx.coroutines.Dispatchers
import kotlinx.coroutines.async
import kotlinx.coroutines.channels.Channel
import kotlinx.coroutines.coroutineScope
import kotlinx.coroutines.delay
import kotlinx.coroutines.flow.MutableStateFlow
import kotlinx.coroutines.flow.first
import kotlinx.coroutines.launch
import kotlinx.coroutines.runBlocking
import kotlinx.coroutines.sync.Mutex
import kotlinx.coroutines.sync.Semaphore
import kotlinx.coroutines.sync.withLock
import kotlinx.coroutines.sync.withPermit
import kotlinx.coroutines.withContext
import kotlinx.coroutines.yield

class Racy {
    var unguarded = 0
    var halfGuarded = 0
}

class Guarded {
    val mutex = Mutex()
    var count = 0
    val permits = Semaphore(1)
    var permitted = 0
}

class Box {
    var content = 0
}

class Signalled {
    var content = 0
}

class Slots(size: Int) {
    val boxes = List(size) { Box() }
}

suspend fun locks(guarded: Guarded) = coroutineScope {
    repeat(4) {
        launch {
            repeat(5) {
                guarded.mutex.withLock {
                    val before = guarded.count
                    yield()
                    guarded.count = before + 1
                }
                guarded.permits.withPermit {
                    val before = guarded.permitted
                    delay(1)
                    guarded.permitted = before + 1
                }
            }
        }
    }
}

suspend fun scopes(): Int {
    val slots = Slots(4)
    coroutineScope {
        slots.boxes.forEachIndexed { index, box -> launch { box.content = index } }
    }
    return slots.boxes.sumOf { it.content }
}

suspend fun awaits(): Int = coroutineScope {
    val boxes = (1..4).map { number -> async { Box().also { it.content = number } } }
    boxes.sumOf { it.await().content++ }
}

suspend fun joins(): Int = coroutineScope {
    val box = Box()
    val first = launch { box.content = 5 }
    val second = launch {
        first.join()
        box.content++
    }
    second.join()
    box.content
}

suspend fun channels(): Int = coroutineScope {
    val channel = Channel<Box>(2)
    val answers = Channel<Box>()
    launch {
        for (k in 1..6) {
            val box = Box()
            box.content = k
            channel.send(box)
        }
        channel.close()
    }
    launch {
        for (box in channel) {
            box.content++
            answers.send(box)
        }
        answers.close()
    }
    var sum = 0
    for (box in answers) {
        sum += box.content
    }
    sum
}

suspend fun flows(): Int = coroutineScope {
    val box = Signalled()
    val ready = MutableStateFlow(false)
    launch {
        box.content = 7
        ready.value = true
    }
    ready.first { it }
    box.content
}

suspend fun contexts(): Int {
    val box = Box()
    repeat(3) {
        withContext(Dispatchers.IO) { box.content++ }
        box.content++
    }
    return box.content
}

suspend fun races(racy: Racy, mutex: Mutex) = coroutineScope {
    launch(Dispatchers.IO) {
        racy.unguarded = 1
        mutex.withLock { racy.halfGuarded = 1 }
    }
    Thread.sleep(30)
    racy.unguarded = 2
    racy.halfGuarded = 2
}

fun main() = runBlocking(Dispatchers.Default) {
    val guarded = Guarded()
    locks(guarded)
    races(Racy(), Mutex())
    println("count ${guarded.count} permitted ${guarded.permitted}")
    println("${scopes()} ${awaits()} ${joins()} ${channels()} ${flows()} ${contexts()}")
}
