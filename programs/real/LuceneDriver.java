// Three threads index documents and commit, two search with refreshed readers.
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import org.apache.lucene.analysis.standard.StandardAnalyzer;
import org.apache.lucene.document.Document;
import org.apache.lucene.document.Field;
import org.apache.lucene.document.TextField;
import org.apache.lucene.index.IndexWriter;
import org.apache.lucene.index.IndexWriterConfig;
import org.apache.lucene.index.Term;
import org.apache.lucene.search.IndexSearcher;
import org.apache.lucene.search.SearcherManager;
import org.apache.lucene.search.TermQuery;
import org.apache.lucene.store.ByteBuffersDirectory;

public final class LuceneDriver {
    private static final TermQuery HELLO = new TermQuery(new Term("body", "hello"));

    private interface Work {
        void run() throws IOException;
    }

    private static Thread thread(Work work) {
        return new Thread(() -> {
            try {
                work.run();
            } catch (IOException e) {
                throw new IllegalStateException(e);
            }
        });
    }

    public static void main(String[] arguments) throws Exception {
        IndexWriter writer = new IndexWriter(new ByteBuffersDirectory(), new IndexWriterConfig(new StandardAnalyzer()));
        SearcherManager searchers = new SearcherManager(writer, null);
        List<Thread> threads = new ArrayList<>();
        for (int t = 0; t < 3; t++) {
            int number = t;
            threads.add(thread(() -> {
                for (int i = 0; i < 8; i++) {
                    Document document = new Document();
                    document.add(new TextField("body", "hello world " + number + " " + i, Field.Store.YES));
                    writer.addDocument(document);
                }
                writer.commit();
            }));
        }
        for (int t = 0; t < 2; t++) {
            threads.add(thread(() -> {
                for (int i = 0; i < 4; i++) {
                    searchers.maybeRefresh();
                    IndexSearcher searcher = searchers.acquire();
                    try {
                        searcher.count(HELLO);
                    } finally {
                        searchers.release(searcher);
                    }
                }
            }));
        }
        threads.forEach(Thread::start);
        for (Thread thread : threads) {
            thread.join();
        }
        searchers.maybeRefreshBlocking();
        IndexSearcher searcher = searchers.acquire();
        System.out.println("hits " + searcher.count(HELLO));
        searchers.release(searcher);
        searchers.close();
        writer.close();
    }
}
