#pragma once

struct Gear {
    virtual ~Gear() = default;
    virtual int ratio() const;
};

struct LowGear : Gear {
    int ratio() const override;
};

int apply(const Gear& gear, int (Gear::*member)() const);
