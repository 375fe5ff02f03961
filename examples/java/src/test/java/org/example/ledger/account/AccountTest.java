package org.example.ledger.account;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class AccountTest {
    @Test
    void aPathTellsNameDepthAndWhatIsAbove() {
        Account account = new Account("household:food:bread", Kind.EXPENSE);
        assertEquals("bread", account.name());
        assertEquals(3, account.depth());
        assertTrue(account.isBelow("household"));
        assertFalse(account.isBelow("house"));
    }

    @ParameterizedTest
    @ValueSource(strings = {"", ":", "a:", "A", "a b"})
    void otherPathsAreRefused(String path) {
        assertThrows(IllegalArgumentException.class, () -> new Account(path, Kind.ASSET));
    }
}
