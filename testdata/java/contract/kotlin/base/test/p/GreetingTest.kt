package p

import org.junit.jupiter.api.Assertions.assertEquals
import org.junit.jupiter.api.Test

class GreetingTest {
    @Test
    fun `greets by name`() {
        assertEquals("hello you", Greeting("you").text())
    }
}
