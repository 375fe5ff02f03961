TEST(@Suite@, @Formula@HasItsValues) {
  EXPECT_EQ(@function@(@x@), @x_value@);
  EXPECT_EQ(@function@(@y@), @y_value@);
}

