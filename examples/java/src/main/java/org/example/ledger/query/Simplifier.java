package org.example.ledger.query;

import org.example.ledger.query.Filter.All;
import org.example.ledger.query.Filter.Both;
import org.example.ledger.query.Filter.Either;
import org.example.ledger.query.Filter.Not;

/** Makes filters smaller that say the same. */
public final class Simplifier {
    private Simplifier() {}

    public static Filter simplify(Filter filter) {
        if (filter instanceof Not not) {
            Filter inner = simplify(not.filter());
            return inner instanceof Not twice ? twice.filter() : new Not(inner);
        } else if (filter instanceof Both both) {
            return both(simplify(both.left()), simplify(both.right()));
        } else if (filter instanceof Either either) {
            return either(simplify(either.left()), simplify(either.right()));
        }
        return filter;
    }

    private static Filter both(Filter left, Filter right) {
        if (left instanceof All || left.equals(right)) {
            return right;
        }
        return right instanceof All ? left : new Both(left, right);
    }

    private static Filter either(Filter left, Filter right) {
        if (left instanceof All || right instanceof All) {
            return new All();
        }
        return left.equals(right) ? left : new Either(left, right);
    }
}
