// Closures in four threads add to an atomic and to a synchronized list.
import java.util.concurrent.atomic.AtomicInteger

def total = new AtomicInteger()
def names = Collections.synchronizedList([])
def threads = (0..3).collect { own ->
    Thread.start {
        5.times { k ->
            total.addAndGet(k)
            names << "$own-$k".toString()
        }
    }
}
threads*.join()
println "total ${total.get()} names ${names.size()}"
