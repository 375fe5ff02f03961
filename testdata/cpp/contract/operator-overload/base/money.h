#pragma once

struct Money {
    int cents;
};
bool operator==(const Money& a, const Money& b);

struct Weight {
    int grams;
};
bool operator==(const Weight& a, const Weight& b);
