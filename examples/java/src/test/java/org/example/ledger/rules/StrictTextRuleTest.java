package org.example.ledger.rules;

/** The tests of the rule it extends, with other numbers. */
class StrictTextRuleTest extends TextRuleTest {
    @Override
    public Rule rule() {
        return new StrictTextRule();
    }

    @Override
    protected int longest() {
        return 20;
    }

    @Override
    protected int expectedWarnings() {
        return 1;
    }
}
