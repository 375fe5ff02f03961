#pragma once

struct Record {
    int id;
    int count;
};

struct Other {
    int id;
};

int count_of(const Record& record);
int id_of(const Other& other);
unsigned long record_size();
