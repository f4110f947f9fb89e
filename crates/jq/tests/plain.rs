//! Plain predicates, which are answered without the interpreter, have the same results as in the interpreter.

#![allow(clippy::unwrap_used)]

use pipewright_jq::{Filter, Input, Limits};
use proptest::prelude::*;

fn value() -> impl Strategy<Value = String> {
    let text = prop_oneof![Just("x"), Just("ab"), Just("\\u0078"), Just("a\\\"b"), Just("")]
        .prop_map(|text| format!("\"{text}\""));
    let number = prop_oneof![
        Just("0"),
        Just("-0"),
        Just("1"),
        Just("5"),
        Just("-5"),
        Just("5.0"),
        Just("5.5"),
        Just("5e0"),
        Just("12345678901234567890"),
        Just("100000000000000000000000000005"),
    ];
    let leaf = prop_oneof![
        Just("null".to_owned()),
        Just("true".to_owned()),
        Just("false".to_owned()),
        text.clone(),
        number.prop_map(str::to_owned)
    ];
    leaf.prop_recursive(3, 12, 3, |inner| {
        let key = prop_oneof![Just("a"), Just("b"), Just("\\u0061"), Just("c d")];
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..3).prop_map(|items| format!("[{}]", items.join(","))),
            prop::collection::vec((key, inner), 0..4).prop_map(|fields| {
                let fields: Vec<String> = fields.into_iter().map(|(key, value)| format!("\"{key}\":{value}")).collect();
                format!("{{{}}}", fields.join(", "))
            }),
        ]
    })
}

fn predicate() -> impl Strategy<Value = String> {
    let path = prop_oneof![
        Just(".a"),
        Just(".b"),
        Just(".a.b"),
        Just(".\"c d\""),
        Just(".b.a.a"),
        Just(".[\"a\"]"),
        Just(".")
    ];
    let literal = prop_oneof![
        Just("null"),
        Just("true"),
        Just("false"),
        Just("\"x\""),
        Just("\"\""),
        Just("5"),
        Just("0"),
        Just("-5"),
        Just("5.0"),
        Just("12345678901234567890"),
        Just("\"a\\\"b\""),
        Just(".b"),
    ];
    let operator = prop_oneof![Just("=="), Just("!="), Just("<"), Just("<="), Just(">"), Just(">=")];
    let leaf = prop_oneof![
        1 => path.clone().prop_map(str::to_owned),
        3 => (path, operator, literal).prop_map(|(path, operator, literal)| format!("{path} {operator} {literal}")),
    ];
    let joined = leaf.prop_recursive(3, 8, 2, |inner| {
        (inner.clone(), prop_oneof![Just("and"), Just("or")], inner)
            .prop_map(|(left, operator, right)| format!("({left}) {operator} ({right})"))
    });
    (joined, any::<bool>())
        .prop_map(|(condition, selects)| if selects { format!("select({condition})") } else { condition })
}

proptest! {
    #[test]
    fn plain_predicates_give_the_same_as_the_interpreter(json in value(), predicate in predicate()) {
        let plain = Filter::compile(&predicate, &[], Limits::default()).unwrap();
        // With a pipe, it is no longer a plain predicate.
        let interpreted = Filter::compile(&format!("({predicate}) | ."), &[], Limits::default()).unwrap();
        let answer = |filter: &Filter| {
            filter.matches(Input::Json(json.as_bytes()), &[]).map_err(|error| (error.kind(), error.to_string()))
        };
        prop_assert_eq!(answer(&plain), answer(&interpreted), "{} of {}", predicate, json);
    }
}
