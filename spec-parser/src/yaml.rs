//! YAML from strangers.
//!
//! In: a text. Out: what it says, or why not. The reader of YAML takes time that grows with the
//! square of how deep brackets nest, before anybody asks how deep: that is asked here first.

use semantics::spelling::shallow;
use serde::de::{DeserializeOwned, Error as _};

/// Reads a text.
///
/// # Errors
/// What the reader says, or that brackets nest too deeply.
pub fn from_str<T: DeserializeOwned>(text: &str) -> Result<T, serde_yaml::Error> {
    shallow(text).map_err(serde_yaml::Error::custom)?;
    serde_yaml::from_str(text)
}

#[cfg(test)]
mod tests {
    use super::from_str;
    use serde_yaml::Value;

    #[test]
    fn brackets_that_nest_too_deeply_are_not_read() {
        for open in ["{a: ", "[", "- [", "{"] {
            let start = std::time::Instant::now();
            let told = from_str::<Value>(&open.repeat(50_000)).expect_err("it is too deep");
            assert!(told.to_string().contains("more than 500 deep"), "{told}");
            assert!(start.elapsed().as_secs() < 5);
        }
        assert!(from_str::<Value>("a: [{b: [1, 2]}]").is_ok());
    }
}
