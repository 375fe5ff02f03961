package p

class Greeting(private val name: String) {
    fun text(): String = "hello $name"
}
