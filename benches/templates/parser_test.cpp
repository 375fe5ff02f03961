class @Suite@Test : public @library@_tests::Fixture {
 protected:
  void SetUp() override {
    @library@_tests::Fixture::SetUp();
    parser_.define("@key@", @a@).define("other", @b@);
  }

  atlas::@library@::@Class@ parser_;
};

TEST(@Suite@, MultipliesBeforeItAdds) {
  EXPECT_EQ(atlas::@library@::@unit@_evaluate("@a@ @plus@ @b@ @times@ @c@"), @a@ + @b@ * @c@);
  EXPECT_EQ(atlas::@library@::@unit@_evaluate("@d@"), @d@);
}

TEST(@Suite@, SaysWhereAnErrorIs) {
  try {
    atlas::@library@::@unit@_evaluate("1 @plus@");
    FAIL() << "an expression that ends early";
  } catch (const atlas::@library@::@Class@Error& error) {
    EXPECT_EQ(error.position(), 2u);
    EXPECT_EQ(error.code(), @a@);
  }
}

TEST_F(@Suite@Test, KnowsDefinedNames) {
  EXPECT_EQ(parser_.evaluate("@key@ @times@ other"), @a@ * @b@);
  EXPECT_EQ(parser_.evaluate("unknown"), parser_.evaluate("unheard"));
}

TEST_F(@Suite@Test, SplitsIntoTokens) {
  EXPECT_EQ(parser_.tokens("1 @plus@ @key@ @times@ 22").size(), 5u);
  EXPECT_THROW(parser_.evaluate("@plus@ 1"), atlas::@library@::Error);
}
