package org.example.ledger.account;

/** What an account stands for, which decides the side that lets it grow. */
public enum Kind {
    ASSET {
        @Override
        public int sign() {
            return 1;
        }
    },
    EXPENSE {
        @Override
        public int sign() {
            return 1;
        }
    },
    LIABILITY,
    INCOME,
    EQUITY;

    /** 1 if a debit lets the account grow, -1 if a credit does. */
    public int sign() {
        return -1;
    }

    /** Whether its balance is carried into the next year. */
    public boolean isPermanent() {
        return switch (this) {
            case ASSET, LIABILITY, EQUITY -> true;
            case EXPENSE, INCOME -> false;
        };
    }
}
