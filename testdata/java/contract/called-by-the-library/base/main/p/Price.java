package p;

class Price {
    private final int cents;

    Price(int cents) {
        this.cents = cents;
    }

    @Override
    public boolean equals(Object other) {
        return other instanceof Price price && price.cents == cents;
    }

    @Override
    public int hashCode() {
        return cents;
    }
}
