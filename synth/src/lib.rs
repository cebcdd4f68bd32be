//! Kernel windows to proved programs.
