//! Functions of PostgreSQL that are written like columns: `n.f` is `f(n)` if `n` has no column `f`.

/// How the names begin of functions that take one argument, and have an effect or read files. Columns seldom have such
/// names; a function that a user has defined looks like any column.
const FUNCTIONS: [&str; 34] = [
    "brin_desummarize_",
    "brin_summarize_",
    "dblink",
    "gin_clean_",
    "http_delete",
    "http_get",
    "lo_",
    "pg_advisory_",
    "pg_backup_",
    "pg_cancel_",
    "pg_clear_",
    "pg_copy_",
    "pg_create_",
    "pg_drop_",
    "pg_export_snapshot",
    "pg_file_read",
    "pg_file_sync",
    "pg_file_unlink",
    "pg_file_write",
    "pg_import_",
    "pg_log_",
    "pg_logical_",
    "pg_ls_",
    "pg_notify",
    "pg_promote",
    "pg_read_",
    "pg_replication_origin_",
    "pg_sleep",
    "pg_start_",
    "pg_stat_file",
    "pg_stat_reset",
    "pg_stop_",
    "pg_terminate_",
    "pg_try_advisory_",
];

/// A view with such a name.
const VIEWS: [&str; 1] = ["pg_replication_origin_status"];

/// Whether a name behind a dot, in lower case unless it is quoted, is certainly such a function.
pub(super) fn is_function(name: &str) -> bool {
    !VIEWS.contains(&name) && FUNCTIONS.iter().any(|begin| name.starts_with(begin))
}
