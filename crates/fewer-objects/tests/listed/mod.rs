//! What the runner lists of a program, as the analysis takes it.

use fewer_objects::ListedTest;
use fewer_runners::googletest;

pub fn listed_test(test: &googletest::ListedTest) -> ListedTest {
    ListedTest {
        suite: test.suite.clone(),
        test: test.test.clone(),
        type_parameter: test.type_parameter.clone(),
        has_value_parameter: test.value_parameter.is_some(),
        is_disabled: test.disabled,
    }
}
