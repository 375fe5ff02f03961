namespace {
struct Step {
    virtual ~Step() = default;
    virtual int size() { return 2; }
};
}  // namespace

static int offset() { return 20; }

int right() {
    Step* step = new Step;
    int result = step->size() + offset();
    delete step;
    return result;
}
