class @Suite@Test : public @library@_tests::Fixture {
 protected:
  void SetUp() override {
    @library@_tests::Fixture::SetUp();
    stage_ = std::make_unique<atlas::@library@::@Class@>(@c@);
    stage_->note("first").note("second note");
  }

  std::unique_ptr<atlas::@library@::@Class@> stage_;
};

TEST(@Suite@, IsCreatedByItsName) {
  auto stage = atlas::@library@::Registry::instance().create("@library@.@unit@");
  ASSERT_NE(stage, nullptr);
  EXPECT_EQ(stage->name(), "@library@.@unit@");
  EXPECT_EQ(stage->priority(), @b@);
}

TEST(@Suite@, RefusesAFactorThatIsNotPositive) {
  EXPECT_THROW(atlas::@library@::@Class@(0), atlas::@library@::Error);
  EXPECT_NO_THROW(atlas::@library@::@Class@(@a@));
}

TEST_F(@Suite@Test, CountsItsNotes) {
  const std::int64_t before = stage_->apply(@x@);
  stage_->note("third");
  EXPECT_EQ(stage_->apply(@x@), before + 1);
  EXPECT_EQ(stage_->note_lengths().at("second note"), 11u);
}

TEST_F(@Suite@Test, DescribesItself) {
  EXPECT_EQ(stage_->describe(), "@library@:@library@.@unit@:@b@, first, second note");
  EXPECT_EQ(@unit@_label(*stage_), "@library@.@unit@/@b@");
  EXPECT_EQ(stage_->trace(@x@).size(), @b@u + 1);
}
