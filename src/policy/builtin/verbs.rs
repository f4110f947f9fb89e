//! The words that tools' names are told by.

use crate::policy::detector::ActionKind;

/// Words that only look. One of them at the head of a name makes the tool an observation.
pub(super) const READING: &[&str] = &[
    "analyse",
    "analyze",
    "calculate",
    "cat",
    "compare",
    "compute",
    "convert",
    "count",
    "describe",
    "diff",
    "display",
    "echo",
    "estimate",
    "examine",
    "explain",
    "explore",
    "extract",
    "fetch",
    "find",
    "focus",
    "get",
    "grep",
    "has",
    "head",
    "hello",
    "help",
    "highlight",
    "history",
    "hover",
    "info",
    "inspect",
    "is",
    "list",
    "locate",
    "log",
    "logs",
    "look",
    "lookup",
    "measure",
    "monitor",
    "observe",
    "overlay",
    "peek",
    "ping",
    "preview",
    "read",
    "recall",
    "resize",
    "retrieve",
    "screenshot",
    "scroll",
    "search",
    "seed",
    "show",
    "sleep",
    "snapshot",
    "stat",
    "stats",
    "status",
    "summarise",
    "summarize",
    "tail",
    "think",
    "trace",
    "tree",
    "unwatch",
    "validate",
    "verify",
    "version",
    "view",
    "wait",
    "watch",
    "weather",
    "zoom",
];

/// Words of looking that are as often part of something else: they count where nothing else in the name acts.
pub(super) const READING_NOUNS: &[&str] =
    &["console", "messages", "network", "requests", "tools", "state", "time", "title", "url", "text", "html"];

pub(super) const NAVIGATING: &[&str] =
    &["back", "forward", "goto", "navigate", "reload", "refresh", "tab", "tabs", "visit"];

pub(super) const ACTIVATING: &[&str] = &[
    "act",
    "activate",
    "check",
    "click",
    "dblclick",
    "doubleclick",
    "drag",
    "press",
    "select",
    "swipe",
    "tap",
    "toggle",
    "touch",
    "uncheck",
];

pub(super) const ENTERING: &[&str] = &["choose", "clear", "enter", "fill", "input", "option", "type", "typing"];

/// What an agent does to whoever it works for: nothing is changed in any world.
pub(super) const TALKING: &[&str] = &[
    "answer", "ask", "done", "finish", "message", "note", "plan", "progress", "question", "reply", "respond", "say",
    "status", "tell", "think", "thought", "thoughts",
];

pub(super) const RUNNING: &[&str] = &[
    "bash",
    "cmd",
    "command",
    "console",
    "eval",
    "evaluate",
    "exec",
    "execute",
    "interpreter",
    "javascript",
    "powershell",
    "python",
    "query",
    "run",
    "script",
    "sh",
    "shell",
    "sql",
    "subprocess",
    "terminal",
    "zsh",
];

/// Verbs that destroy, wherever they stand.
pub(super) const DESTROYING: &[(ActionKind, &[&str])] = &[
    (
        ActionKind::Delete,
        &[
            "archive",
            "clean",
            "cleanup",
            "delete",
            "del",
            "destroy",
            "discard",
            "drop",
            "empty",
            "erase",
            "expunge",
            "flush",
            "forget",
            "prune",
            "purge",
            "remove",
            "reset",
            "rm",
            "rmdir",
            "trash",
            "truncate",
            "uninstall",
            "unlink",
            "wipe",
        ],
    ),
    (
        ActionKind::Send,
        &[
            "comment", "dm", "email", "forward", "invite", "mail", "message", "notify", "reply", "send", "share",
            "sms", "tweet", "upload",
        ],
    ),
    (
        ActionKind::Pay,
        &[
            "bid", "buy", "charge", "checkout", "donate", "pay", "purchase", "refund", "sell", "spend", "swap", "tip",
            "trade", "transfer", "withdraw",
        ],
    ),
    (ActionKind::Order, &["book", "order", "reserve"]),
    (ActionKind::Confirm, &["accept", "approve", "confirm", "sign"]),
    (ActionKind::Submit, &["apply", "submit"]),
    (ActionKind::Publish, &["deploy", "merge", "post", "publish", "push", "release", "unpublish"]),
    (ActionKind::Overwrite, &["overwrite", "replace", "restore", "revert", "rollback", "write"]),
    (ActionKind::CancelOrder, &["cancel", "terminate", "unsubscribe"]),
    (ActionKind::Revoke, &["ban", "block", "deactivate", "disable", "kick", "lock", "revoke", "suspend"]),
    (ActionKind::Grant, &["authorise", "authorize", "grant", "promote", "unlock"]),
    (ActionKind::Install, &["install", "update", "upgrade"]),
    (ActionKind::Run, &["abort", "kill", "launch", "reboot", "restart", "shutdown", "spawn", "start", "stop"]),
];

/// Of those, words that name things as well (an order, a post): a word of looking beside them makes them that.
pub(super) const ALSO_NOUNS: &[&str] = &[
    "archive", "bid", "block", "book", "charge", "checkout", "comment", "email", "invite", "lock", "mail", "message",
    "order", "post", "release", "refund", "reply", "share", "sign", "start", "stop", "tip", "trade", "transfer",
    "trash", "update", "upgrade", "upload", "forward",
];
