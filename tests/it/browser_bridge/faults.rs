//! What pages and browsers do wrong, each answered within its limit.
