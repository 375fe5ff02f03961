class @Suite@Test : public @library@_tests::Fixture {
 protected:
  using Service = atlas::@library@::@Class@;

  void SetUp() override {
    @library@_tests::Fixture::SetUp();
    service_.listen([this](const Service::Event& event) { heard_.push_back(event.name); });
    service_.put("@key@", @a@);
  }

  Service service_;
  std::vector<std::string> heard_;
};

TEST(@Suite@, ComputesByName) {
  atlas::@library@::@Class@ service;
  EXPECT_EQ(service.compute("twice", @x@), 2 * @x@);
  EXPECT_EQ(service.compute("shifted", @x@), @x@ + @a@);
  EXPECT_EQ(service.compute("called", @x@), @called@);
}

TEST(@Suite@, RefusesWhatItDoesNotKnow) {
  atlas::@library@::@Class@ service;
  EXPECT_THROW(service.compute("nothing", 1), atlas::@library@::Error);
  EXPECT_THROW(service.listen(nullptr), atlas::@library@::Error);
  EXPECT_EQ(@unit@_amount_or(service, "@key@", @d@), @d@);
}

TEST_F(@Suite@Test, TellsItsListeners) {
  service_.put("@key@", @a@);
  service_.put("@key@", @a@ + @b@);
  service_.remove("@key@");
  EXPECT_EQ(heard_, (std::vector<std::string>(3, "@key@")));
}

TEST_F(@Suite@Test, SumsUp) {
  service_.put("other", @c@);
  EXPECT_EQ(service_.total(), @a@ + @c@);
  EXPECT_EQ(service_.names().size(), 2u);
  EXPECT_FALSE(service_.remove("nothing"));
}
