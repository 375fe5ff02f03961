package p;

class Jobs {
    java.util.function.Supplier<String> anonymous() {
        return new java.util.function.Supplier<String>() {
            @Override
            public String get() {
                return "anonymous";
            }
        };
    }

    String local() {
        class Local {
            String get() {
                return "local";
            }
        }
        return new Local().get();
    }

    java.util.function.Supplier<String> lambda() {
        return () -> "lambda";
    }
}
