// A MarshalledObject writes and reads objects by reflection and calls their readObject methods.
// fissure: must-find racer data-race ByMarshalling$Parcel.opened
import java.io.IOException;
import java.io.ObjectInputStream;
import java.io.Serializable;
import java.rmi.MarshalledObject;

public class ByMarshalling {
    static class Parcel implements Serializable {
        private static final long serialVersionUID = 1;
        static Parcel last;
        int opened;

        private void readObject(ObjectInputStream in) throws IOException, ClassNotFoundException {
            in.defaultReadObject();
            last = this;
        }
    }

    public static void main(String[] args) throws Exception {
        Parcel copy = new MarshalledObject<>(new Parcel()).get();
        Thread thread = new Thread(() -> Parcel.last.opened++);
        thread.start();
        copy.opened++;
        thread.join();
        System.out.println("done");
    }
}
