extern const int primes[];
extern const int squares[];
const int primes[] = {2, 3, 5, 7};
const int squares[] = {1, 4, 9, 16};
