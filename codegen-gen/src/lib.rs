//! Dictionaries and programs to text.
