//! For any schema of a server and any arguments: both are checked without a fault.
//! The input is the schema, a line feed, and the arguments.
#![no_main]

use libfuzzer_sys::fuzz_target;
use pipewright_mcp::Schema;

fuzz_target!(|input: &str| {
    let Some((schema, arguments)) = input.split_once('\n') else { return };
    if let Ok(schema) = Schema::compile(schema) {
        let first = schema.check(arguments);
        assert_eq!(first, schema.check(arguments), "another verdict the second time");
    }
});
