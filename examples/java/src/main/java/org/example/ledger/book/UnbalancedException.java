package org.example.ledger.book;

/** An entry whose postings do not add up. */
public class UnbalancedException extends IllegalArgumentException {
    private static final long serialVersionUID = 1;

    private final long difference;

    public UnbalancedException(String message, long difference) {
        super(message);
        this.difference = difference;
    }

    public long difference() {
        return difference;
    }
}
