//! Enums whose values have names in records.

/// Defines such an enum: `named! { /// What it is. pub enum Type as "name in schemas" { Value = "name", ... } }`. A
/// crate that uses it depends on serde and schemars.
#[macro_export]
macro_rules! named {
    ($(#[$about:meta])+ pub enum $Type:ident as $schema:literal {
        $($(#[$of_value:meta])* $Value:ident = $name:literal,)+
    }) => {
        $(#[$about])+
        #[derive(Debug, Clone, Copy, PartialEq, Eq, serde::Serialize, serde::Deserialize, schemars::JsonSchema)]
        #[serde(rename = $schema)]
        pub enum $Type {
            $($(#[$of_value])* #[serde(rename = $name)] $Value,)+
        }

        impl $Type {
            /// All values, in order.
            pub const ALL: &[$Type] = &[$($Type::$Value),+];

            /// Its name in records.
            pub fn name(self) -> &'static str {
                match self {
                    $($Type::$Value => $name,)+
                }
            }

            /// The value with this name.
            pub fn named(name: &str) -> Option<$Type> {
                $Type::ALL.iter().copied().find(|value| value.name() == name)
            }
        }

        impl From<$Type> for std::borrow::Cow<'_, str> {
            fn from(value: $Type) -> Self {
                std::borrow::Cow::Borrowed(value.name())
            }
        }
    };
}
