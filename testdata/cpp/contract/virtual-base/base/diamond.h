#pragma once

struct Device {
    virtual ~Device();
    virtual int id() const;
};
struct Input : virtual Device {
    int reads = 1;
};
struct Output : virtual Device {
    int writes = 1;
};
struct Terminal : Input, Output {
    int id() const override;
};

int id_of(const Device& device);
