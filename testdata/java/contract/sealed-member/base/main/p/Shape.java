package p;

sealed interface Shape permits Circle, Square {}
