//! az: some of its starters are `python -m`, which loads modules of the folder, and it looks for a configuration there.

use super::{all_above, of_user};
use std::io;
use std::path::Path;

/// Whether az runs nothing that a file here names.
pub(super) fn runs_nothing(folder: &Path) -> bool {
    let of_user = of_user("AZURE_CONFIG_DIR", ".azure", &["config"]);
    !folder.is_dir()
        || has_no_module(folder).unwrap_or(false) && all_above(folder, &[".azure/config"], &of_user, |_| false)
}

/// Whether no file or folder is a module of Python.
fn has_no_module(folder: &Path) -> io::Result<bool> {
    for entry in folder.read_dir()? {
        let path = entry?.path();
        let end = path.extension().unwrap_or_default();
        if ["py", "pyc", "pyd", "so"].iter().any(|module| end == *module) || path.join("__init__.py").exists() {
            return Ok(false);
        }
    }
    Ok(true)
}
