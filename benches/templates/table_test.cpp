class @Suite@Test : public @library@_tests::Fixture {
 protected:
  atlas::@library@::@Class@ table_;
};

TEST(@Suite@, FindsARowByItsKey) {
  const auto* row = atlas::@library@::@Class@::find("@key@");
  ASSERT_NE(row, nullptr);
  EXPECT_EQ(row->value, @value@);
  EXPECT_TRUE(atlas::@library@::@unit@_knows("@key@"));
  EXPECT_FALSE(atlas::@library@::@unit@_knows("no such key"));
}

TEST(@Suite@, NamesItsLevels) {
  using Level = atlas::@library@::@Class@Level;
  EXPECT_STREQ(to_string(Level::Low), "low");
  EXPECT_STREQ(to_string(Level::Extreme), "extreme");
  EXPECT_THROW(to_string(static_cast<Level>(@b@ + 4)), atlas::@library@::Error);
}

TEST_F(@Suite@Test, SumsUp) {
  EXPECT_EQ(table_.total(), @total@);
  EXPECT_EQ(table_.by_key().size(), @count@u);
}

TEST_F(@Suite@Test, RendersOneLinePerRow) {
  const std::string text = table_.render('.');
  EXPECT_EQ(std::count(text.begin(), text.end(), '\n'), @count@ + 1);
  std::size_t keys = 0;
  for (const auto& entry : table_.by_level()) keys += entry.second.size();
  EXPECT_EQ(keys, @count@u);
}
