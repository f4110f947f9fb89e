use super::*;
use proptest::prelude::*;

#[test]
fn amounts_are_found_as_pages_write_them() {
    for text in [
        "1.234,50 €",
        "€1.234,50",
        "1 234,50 zł",
        "1\u{a0}234,50\u{a0}zł",
        "¥1,200",
        "1,200円",
        "CHF 12.–",
        "CHF 12.-",
        "12.– Fr.",
        "Rs. 5,000",
        "Rs 5,000",
        "₹5,00,000",
        "10 руб.",
        "10 руб",
        "US$ 9.99",
        "US$9.99",
        "R$ 10,00",
        "A$5",
        "USD 5",
        "5 USD",
        "9,99 EUR",
        "EUR 9,99",
        "10 kr.",
        "kr 10",
        "100 Kč",
        "1 000 Ft",
        "5 euros",
        "5 Euro",
        "20 dollars",
        "₩12,000",
        "12,000원",
        "NT$300",
        "HK$300",
        "Total: $54.80",
        "-€5.00",
        "€ -5.00",
        "€-5.00",
        "١٢٫٥٠ ر.س. SAR ١٢٫٥٠",
        "50 ₺",
        "50 TL",
        "100 lei",
        "12,50 лв",
        "150 грн",
        "฿99",
        "99 บาท",
        "₪49.90",
        "Rp 50.000",
        "RM12.90",
        "S/ 25.00",
        "0.005 BTC",
        "Pay $54.80 now",
        "£5",
        "£5.00/mo",
        "25 złotych",
        "5’000.00 CHF",
        "99 ¢",
        "₽100",
    ] {
        assert!(has_amount(text), "{text}");
    }
    for text in [
        "Room 12",
        "3 items",
        "2026-11-29",
        "12:30",
        "v1.50",
        "Step 2 of 3",
        "12 %",
        "order 12345",
        "iPhone 15",
        "6 ft",
        "",
        "€",
        "EUR",
        "total",
        "5 stars",
        "12 m²",
        "Road 5",
        "Carry 5",
        "all 5",
    ] {
        assert!(!has_amount(text), "{text}");
    }
}

#[test]
fn a_bare_amount_has_two_digits_behind_its_point() {
    for text in ["54.80", "Total 1.234,50", "1 234.50", "sum: 0,99"] {
        assert!(has_bare_amount(text), "{text}");
    }
    for text in ["v1.50", "29.11.2026", "12.11.", "12:30.50", "4.5", "12.50%", "1.2.30", "192.168.10.20", "5,000", "5"]
    {
        assert!(!has_bare_amount(text), "{text}");
    }
}

#[test]
fn a_total_is_named_in_many_languages() {
    for text in
        ["Total", "TOTAL:", "Order total $5", "Gesamtsumme", "Zu zahlen", "Итого", "合計", "Razem", "סה\"כ", "المجموع"]
    {
        assert!(names_total(text), "{text}");
    }
    for text in ["Subtotal", "Zwischensumme", "Kettle", "Shipping", "totally"] {
        assert!(!names_total(text), "{text}");
    }
}

#[test]
fn buttons_that_pay_are_told_from_others() {
    for name in ["Pay now", "Place order", "Buy now", "Zahlungspflichtig bestellen", "Payer", "Pay $54.80"] {
        assert_eq!(payment_sign("button", name), PaymentSign::Pays, "{name}");
    }
    assert_eq!(payment_sign("button", "Confirm"), PaymentSign::Unsure);
    assert_eq!(payment_sign("button", "Submit"), PaymentSign::Unsure);
    for (role, name) in
        [("button", "Next page"), ("textbox", "Pay now"), ("link", "Payment method"), ("button", "Delete")]
    {
        assert_eq!(payment_sign(role, name), PaymentSign::None, "{role} {name}");
    }
}

/// A number as pages write it, in one of the usual ways.
fn number() -> impl Strategy<Value = String> {
    let grouped = (1_u32..1000, proptest::collection::vec(0_u32..1000, 0..3), 0_u32..100, 0_usize..6);
    grouped.prop_map(|(first, groups, cents, style)| {
        let (mark, point) = [(",", "."), (".", ","), (" ", ","), ("\u{a0}", ","), ("'", "."), ("", ".")][style];
        let groups: String = groups.iter().map(|group| format!("{mark}{group:03}")).collect();
        format!("{first}{groups}{point}{cents:02}")
    })
}

proptest! {
    #[test]
    fn any_number_with_any_currency_is_an_amount(
        number in number(),
        code in proptest::sample::select(CODES.to_vec()),
        word in proptest::sample::select(WORDS.to_vec()),
        sign in proptest::sample::select(vec!["€", "$", "£", "¥", "₹", "₽", "₺", "₩", "₪", "฿", "₴", "₦"]),
        blank in proptest::sample::select(vec!["", " ", "\u{a0}", "\u{202f}"]),
    ) {
        for text in [
            format!("{code} {number}"), format!("{number}{blank}{code}"), format!("{sign}{blank}{number}"),
            format!("{number}{blank}{sign}"), format!("{number} {word}"), format!("x: {sign}{number}."),
        ] {
            prop_assert!(has_amount(&text), "{}", text);
        }
        prop_assert!(!has_amount(&number), "{}", number);
        prop_assert!(has_bare_amount(&number), "{}", number);
    }

    /// Nothing but running times may differ, whatever the text: a deal with another character is another deal.
    #[test]
    fn another_character_is_another_deal(text in "[a-z€$0-9 .,]{0,30}", at in 0_usize..31, other in "[A-Z]") {
        let at = text.char_indices().map(|(at, _)| at).nth(at).unwrap_or(text.len());
        let changed = format!("{}{other}{}", &text[..at], &text[at..]);
        prop_assert!(is_same_deal(&text, &text, Duration::ZERO));
        prop_assert!(!is_same_deal(&text, &changed, Duration::from_secs(1000)), "{} {}", text, changed);
    }

    /// An amount is never a time.
    #[test]
    fn another_amount_is_another_deal(one in number(), other in number(), sign in proptest::sample::select(vec!["€", "$", "zł", "руб."])) {
        prop_assume!(one != other);
        let deal = |number: &str| format!("Kettle 2 x Total {number} {sign} ends in 0:59");
        prop_assert!(!is_same_deal(&deal(&one), &deal(&other), Duration::from_secs(100_000)));
    }

    #[test]
    fn no_text_causes_a_panic(one in "\\PC{0,40}", other in "[0-9:. smh€$]{0,40}") {
        let _ = (has_amount(&one), has_bare_amount(&one), names_total(&one), is_same_deal(&one, &other, Duration::ZERO));
        let _ = (has_amount(&other), has_bare_amount(&other), is_same_deal(&other, &other, Duration::MAX));
    }
}
