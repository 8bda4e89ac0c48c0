// Standard input reaches the program.
// fissure: stdin hello from outside
import java.io.BufferedReader;
import java.io.InputStreamReader;

public class EchoInput {
    public static void main(String[] args) throws Exception {
        BufferedReader reader = new BufferedReader(new InputStreamReader(System.in));
        for (String line = reader.readLine(); line != null; line = reader.readLine()) {
            System.out.println("got " + line);
        }
    }
}
