package org.example.ledger.query;

import static org.junit.jupiter.api.Assertions.assertEquals;

import org.example.ledger.query.Filter.All;
import org.example.ledger.query.Filter.Both;
import org.example.ledger.query.Filter.Either;
import org.example.ledger.query.Filter.Not;
import org.example.ledger.query.Filter.Text;
import org.junit.jupiter.api.Test;

class SimplifierTest {
    private final Filter a = new Text("a");
    private final Filter b = new Text("b");

    @Test
    void twoNegationsAreNone() {
        assertEquals(a, Simplifier.simplify(new Not(new Not(a))));
        assertEquals(new Not(a), Simplifier.simplify(new Not(new Not(new Not(a)))));
    }

    @Test
    void whatHoldsForAllIsLeftOut() {
        assertEquals(a, Simplifier.simplify(new Both(new All(), a)));
        assertEquals(a, Simplifier.simplify(new Both(a, new All())));
        assertEquals(new All(), Simplifier.simplify(new Either(a, new All())));
    }

    @Test
    void repetitionsAreLeftOut() {
        assertEquals(a, Simplifier.simplify(new Either(a, new Both(a, a))));
        assertEquals(new Both(a, b), Simplifier.simplify(new Both(a, b)));
    }
}
