double interest(double amount) { return amount * 0.125; }
double tax(double amount) { return amount * 0.375; }
