//! The classes of tools that have been judged: most agents call a few tools all the time.

use super::names::{Class, class_of_server};
use std::collections::HashMap;
use std::sync::{Mutex, PoisonError};

/// The greatest number of tools, and length of a name, that are kept.
const MAX_TOOLS: usize = 500;
const MAX_NAME: usize = 100;

/// The classes by the tools' names, for a server whose tools share a prefix.
#[derive(Debug, Default)]
pub(super) struct KnownClasses(Mutex<HashMap<String, Class>>);

impl KnownClasses {
    /// As [`class_of_server`], for always the same prefix.
    pub fn of(&self, tool: &str, prefix: &str) -> Class {
        let mut known = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(class) = known.get(tool) {
            return class.clone();
        }
        if known.len() == MAX_TOOLS {
            known.clear();
        }
        let class = class_of_server(tool, prefix);
        if tool.len() <= MAX_NAME {
            known.insert(tool.to_owned(), class.clone());
        }
        class
    }
}
