class @Suite@Test : public @library@_tests::Fixture {
 protected:
  void SetUp() override {
    @library@_tests::Fixture::SetUp();
    for (std::int64_t value = 0; value < @b@; ++value) values_.push(value * @c@);
  }

  atlas::@library@::@Class@<std::int64_t> values_{@b@};
};

TEST(@Suite@, ForgetsTheOldest) {
  atlas::@library@::@Class@<std::string> texts(2);
  texts.push("@key@");
  texts.push("b");
  texts.push("a");
  EXPECT_EQ(texts.sorted(), (std::vector<std::string>{"a", "b"}));
  EXPECT_EQ(texts.pushed(), 3u);
  EXPECT_EQ(texts.sum(), "ba");
}

TEST(@Suite@, SumsByName) {
  atlas::@library@::@Class@Statistics statistics;
  statistics.record("@key@", @a@);
  statistics.record("@key@", @b@);
  EXPECT_EQ(statistics.sum_of("@key@"), @a@ + @b@);
  EXPECT_EQ(statistics.longest_name(), "@key@");
  EXPECT_DOUBLE_EQ(statistics.average(), (@a@ + @b@) / 2.0);
  EXPECT_THROW(statistics.record("", 1), atlas::@library@::Error);
}

TEST_F(@Suite@Test, KnowsTheGreatest) {
  EXPECT_EQ(values_.greatest(), (@b@ - 1) * @c@);
  EXPECT_EQ(values_.last(), values_.greatest());
}

TEST_F(@Suite@Test, MapsEveryValue) {
  const auto halves = values_.map([](std::int64_t value) { return static_cast<double>(value) / 2; });
  EXPECT_EQ(halves.size(), values_.size());
  EXPECT_DOUBLE_EQ(halves.sum() * 2, static_cast<double>(values_.sum()));
}
