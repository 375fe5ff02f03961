package p;

import java.util.ServiceLoader;

class Codecs {
    String first() {
        return ServiceLoader.load(Codec.class, Codecs.class.getClassLoader()).iterator().next().name();
    }
}
