//! What an instruction means: bit-vector terms, the operator table, the interpreter.
