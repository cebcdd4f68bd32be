//! Small bodies with the terms that they lower to.
