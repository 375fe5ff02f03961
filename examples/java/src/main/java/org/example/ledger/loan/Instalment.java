package org.example.ledger.loan;

import org.example.ledger.money.Money;
import org.example.ledger.table.Column;

/** What is paid in one month. */
public record Instalment(
        @Column(title = "month", width = 5) int month,
        @Column(title = "interest") Money interest,
        @Column(title = "repaid") Money repaid,
        @Column(title = "debt", hidden = true) Money debt) {
    public Money payment() {
        return interest.plus(repaid);
    }
}
