//! The input language: vector expressions in loop nests, and its own evaluator.
