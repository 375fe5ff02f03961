#include "rules.h"

std::function<int(int)> discount(int percent) {
    return [percent](int price) { return price - price * percent / 100; };
}

std::function<int(int)> surcharge(int amount) {
    return [amount](int price) { return price + amount; };
}
