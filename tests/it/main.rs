//! The commands, run as processes on real input. A module for each command, and for what holds for all.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::print_stderr)]

#[cfg(all(feature = "browser", feature = "chat"))]
mod acceptance;
#[cfg(feature = "gates")]
mod agent_acp;
#[cfg(feature = "chat")]
mod agent_chat;
mod agent_loop;
mod agent_serve;
mod between;
#[cfg(feature = "browser")]
mod browser_bridge;
mod clients;
mod contract;
mod display;
mod documents;
mod edges;
mod engine;
#[cfg(feature = "gates")]
mod examples;
#[cfg(feature = "gates")]
mod gated;
mod godot;
mod godot_bridge;
#[cfg(feature = "gates")]
mod hitl_gate;
mod house;
mod jsonl_log;
mod jsonl_mask;
mod jsonl_record;
#[cfg(feature = "http")]
mod llama;
mod llm_pipe;
mod log;
#[cfg(feature = "http")]
mod mcp_http;
mod mcp_pipe;
mod mcp_serve;
mod mcp_servers;
#[cfg(feature = "browser")]
mod miniwob;
mod person;
#[cfg(feature = "gates")]
mod policy_check;
mod private_files;
mod process;
mod recorded;
mod replay;
mod replay_any_order;
mod replay_calls;
mod replay_jsonrpc;
mod replay_model;
mod replay_role;
mod replay_tools;
mod samples;
mod scale;
mod schemas;
mod shipped;
mod spire;
mod sts_proxy;
mod sts_proxy_answers;
mod sts_proxy_mod;
mod sts_proxy_runs;
mod sts_proxy_states;
#[cfg(feature = "mcp")]
mod tool_call;
mod training;
mod valid_actions;
mod windows;
