package p;

class Greeting {
    String text() throws Exception {
        try (java.io.InputStream stream = Greeting.class.getResourceAsStream("greeting.txt")) {
            return new String(stream.readAllBytes()).trim();
        }
    }
}
