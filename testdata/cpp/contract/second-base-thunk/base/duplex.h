#pragma once

struct Reader {
    virtual ~Reader() = default;
    virtual int read() { return 1; }
};
struct Writer {
    virtual ~Writer() = default;
    virtual int write() { return 2; }
};
struct Duplex : Reader, Writer {
    int write() override;
};

int write_to(Writer* writer);
