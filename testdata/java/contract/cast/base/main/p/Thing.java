package p;

class Thing extends Named {}
