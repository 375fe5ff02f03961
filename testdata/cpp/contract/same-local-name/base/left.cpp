namespace {
struct Step {
    virtual ~Step() = default;
    virtual int size() { return 1; }
};
}  // namespace

static int offset() { return 10; }

int left() {
    Step* step = new Step;
    int result = step->size() + offset();
    delete step;
    return result;
}
