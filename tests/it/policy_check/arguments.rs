//! Effects in arguments: attempts to hide them, and plausible arguments that need no question.

use super::play;
use serde_json::{Value, json};

/// The verdicts on calls: a tool and its arguments.
fn verdicts(calls: &[(&str, Value)]) -> Vec<(String, Value)> {
    let lines: String = calls
        .iter()
        .enumerate()
        .map(|(id, (tool, args))| json!({"id": id, "tool": tool, "args": args}).to_string() + "\n")
        .collect();
    let records = play(&[], &lines).records();
    let judged = |id: usize| {
        let record = records
            .iter()
            .find(|record| record["id"] == id && record.get("type").is_none())
            .expect("each call has a record");
        let policy = if record["policy"].is_null() { &record["data"] } else { &record["policy"] };
        policy.clone()
    };
    calls.iter().enumerate().map(|(id, (tool, args))| (format!("{tool} {args}"), judged(id))).collect()
}

fn assert_asked(calls: &[(&str, Value)]) {
    let passed: Vec<_> = verdicts(calls).into_iter().filter(|(_, policy)| policy["verdict"] != "confirm").collect();
    assert!(passed.is_empty(), "{} of {} were not asked about: {passed:#?}", passed.len(), calls.len());
}

fn assert_unasked(calls: &[(&str, Value)]) {
    let asked: Vec<_> = verdicts(calls).into_iter().filter(|(_, policy)| policy["verdict"] != "allow").collect();
    assert!(asked.is_empty(), "{} of {} were asked about: {asked:#?}", asked.len(), calls.len());
}

#[test]
fn effects_in_arguments_need_approval_for_any_name_of_the_tool() {
    assert_asked(&[
        ("fetch", json!({"url": "https://example.org/1", "method": "DELETE"})),
        ("fetch", json!({"url": "https://example.org/1", "method": "post"})),
        ("fetch", json!({"url": "https://example.org/1", "HTTP_Method": "PUT"})),
        ("fetch", json!({"url": "https://example.org/1", "options": {"method": "PATCH"}})),
        ("get_issue", json!({"id": 7, "action": "delete"})),
        ("get_issue", json!({"id": 7, "Operation": "deleteAll"})),
        ("get_issue", json!({"id": 7, "op": "remove_user"})),
        ("list_files", json!({"mode": "overwrite"})),
        ("list_files", json!({"actions": ["list", "purge"]})),
        ("read_file", json!({"path": "a", "command": "rm -rf /"})),
        ("get_status", json!({"cmd": "git push"})),
        ("get_status", json!({"shell_command": "ls; rm x"})),
        ("get_status", json!({"argv": ["rm", "x"]})),
        ("browser_snapshot", json!({"filename": "/home/me/.bashrc"})),
        ("browser_console_messages", json!({"filename": "x.log"})),
        ("browser_take_screenshot", json!({"filename": "/home/me/page.png"})),
        ("browser_take_screenshot", json!({"filename": "../page.png"})),
        ("browser_take_screenshot", json!({"filename": "a/../../page.png"})),
        ("browser_take_screenshot", json!({"filename": "C:\\page.png"})),
        ("browser_take_screenshot", json!({"filename": "~/page.png"})),
        ("browser_take_screenshot", json!({"filename": "page.sh"})),
        ("browser_snapshot", json!({"filename": "page.png"})),
        ("browser_tabs", json!({"action": "delete"})),
        ("git_branch", json!({"repo_path": "/x", "name": "new"})),
        ("git_branch", json!({"repo_path": "/x", "operation": "create"})),
        ("git_branch", json!({"repo_path": "/x", "mode": "frobnicate"})),
        ("take_snapshot", json!({"filePath": "x"})),
        ("get_report", json!({"save_to": "x"})),
        ("get_report", json!({"outputPath": "x"})),
        ("get_report", json!({"output": "/etc/passwd"})),
        ("get_report", json!({"output": "report.csv"})),
        ("list_rows", json!({"outfile": "x"})),
        ("get_page", json!({"url": "https://example.org", "initScript": "fetch('/x')"})),
        ("navigate_page", json!({"url": "https://example.org", "initScript": "x"})),
        ("browser_wait_for", json!({"function": "() => document.forms[0].submit()"})),
        ("get_text", json!({"javascript": "document.forms[0].submit()"})),
        ("search", json!({"query": "mutation { deleteUser(id: 1) { id } }"})),
        ("get_page", json!({"url": "java\tscript:alert(1)"})),
        ("get_events", json!({"then": {"cmd": "press_button", "args": {"path": "/root/DeleteSave"}}})),
        ("get_events", json!({"then": [{"cmd": "get_tree"}, {"cmd": "delete_file"}]})),
        ("get_events", json!({"then": "{\"tool\":\"delete_file\",\"args\":{}}"})),
        ("get_events", json!({"then": "delete_file"})),
        ("get_events", json!({"then": {"what": "ever"}})),
        ("wait_for", json!({"idle": 1, "then": {"cmd": "wait_for", "args": {"then": {"cmd": "delete_file"}}}})),
        ("list_calls", json!({"calls": [{"tool_name": "delete_file", "input": {"path": "a"}}]})),
        ("list_calls", json!({"calls": "[{\"name\":\"delete_file\",\"arguments\":{}}]"})),
        ("list_calls", json!({"tool_calls": [{"function": {"name": "delete_file", "arguments": "{\"path\":\"a\"}"}}]})),
        (
            "list_calls",
            json!({"request": {"jsonrpc": "2.0", "method": "tools/call", "params": {"name": "send_email", "arguments": {}}}}),
        ),
        ("list_calls", json!({"steps": [{"tool": "run_command", "args": {"command": "rm x"}}]})),
    ]);
}

#[test]
fn requests_flags_and_addresses_that_act_need_approval_in_tools_that_read() {
    let fetch = |args: Value| ("fetch", args);
    assert_asked(&[
        fetch(json!({"url": "https://example.org/1", "body": "{\"a\":1}"})),
        fetch(json!({"url": "https://example.org/1", "json": {"a": 1}})),
        fetch(json!({"url": "https://example.org/1", "options": {"data": "a=1"}})),
        ("get_page", json!({"request": {"href": "https://example.org/1", "payload": [1]}})),
        ("browser_navigate", json!({"url": "https://example.org/1", "postData": "a=1"})),
        fetch(
            json!({"url": "https://example.org/1", "method": "GET", "headers": {"X-HTTP-Method-Override": "DELETE"}}),
        ),
        fetch(json!({"url": "https://example.org/1", "headers": ["x-http-method: PUT"]})),
        fetch(json!({"url": "https://example.org/1", "extra_headers": "X-Method-Override: PATCH"})),
        fetch(
            json!({"url": "https://example.org/1", "headers": [{"name": "X-HTTP-Method-Override", "value": "DELETE"}]}),
        ),
        fetch(json!({"url": "https://example.org/1", "method": "MKCOL"})),
        fetch(json!({"url": "https://example.org/1", "method": "proppatch"})),
        ("get_file", json!({"path": "/a", "httpMethod": "MKCALENDAR"})),
        ("lint", json!({"path": "a", "fix": true})),
        ("read_queue", json!({"name": "a", "delete_after": "true"})),
        ("read_queue", json!({"name": "a", "deleteAfterRead": 1})),
        ("get_draft", json!({"id": 7, "send": "True"})),
        ("get_draft", json!({"id": 7, "options": {"autoSend": true}})),
        ("export_csv", json!({"overwrite": true})),
        ("list_files", json!({"force": true})),
        ("list_files", json!({"force_overwrite": true})),
        ("list_logs", json!({"purge": "yes"})),
        ("list_logs", json!({"hard_delete": true})),
        ("check_format", json!({"in_place": true})),
        ("get_report", json!({"args": ["--output=/x"]})),
        ("get_report", json!({"args": ["--output", "report.csv"]})),
        ("get_report", json!({"flags": "-o report.csv"})),
        ("lint", json!({"args": ["--fix", "src"]})),
        ("run_tests", json!({"args": ["--fix"]})),
        fetch(json!({"url": "https://example.org/user.delete?id=5"})),
        fetch(json!({"url": "https://example.org/delete.user"})),
        fetch(json!({"url": "https://example.org/x?cmd=drop"})),
        fetch(json!({"url": "https://example.org/logout"})),
        fetch(json!({"url": "example.org/log-out.php"})),
        fetch(json!({"url": "https://example.org/users/5/delete"})),
        fetch(json!({"url": "https://example.org/users/5:delete"})),
        fetch(json!({"url": "https://example.org/delete_user.php"})),
        fetch(json!({"url": "https://example.org/delete-account?id=5"})),
        fetch(json!({"urls": ["https://example.org", "https://example.org/%64elete"]})),
    ]);
    assert_unasked(&[
        fetch(json!({"url": "https://example.org/1", "headers": {"accept": "text/html"}, "body": "", "json": true})),
        fetch(json!({"url": "https://example.org/_search", "method": "GET", "body": {"size": 1}})),
        ("analyze", json!({"data": [1, 2], "method": "average"})),
        (
            "list_issues",
            json!({"include_deleted": true, "no_update": true, "dry_run": true, "run_in_background": true}),
        ),
        (
            "get_page",
            json!({"url": "https://example.org", "allow_redirects": true, "remove_html": true, "stop_on_error": 1}),
        ),
        ("read_file", json!({"path": "a", "wait": true, "raw": "true", "report": true, "autocomplete": true})),
        ("grep", json!({"args": ["--no-fix", "-i", "--max-count=5"], "pattern": "delete"})),
        ("browser_click", json!({"element": "Next page", "ref": "e4", "force": true})),
        ("browser_type", json!({"element": "Search", "ref": "e4", "text": "x", "submit": true})),
        fetch(json!({"url": "https://docs.example.org/reference/delete-bucket.html"})),
        fetch(json!({"url": "https://example.org/blob/main/src/delete.rs"})),
        fetch(json!({"url": "https://example.org/?q=delete"})),
        fetch(json!({"url": "https://example.org/static/reset.css#delete"})),
        ("browser_navigate", json!({"url": "https://docs.example.org/delete-a-branch"})),
        ("browser_navigate", json!({"url": "https://example.org/post.php?action=edit&post=5"})),
        ("browser_navigate", json!({"url": "https://example.org/login"})),
    ]);
}

#[test]
fn plausible_arguments_of_tools_that_read_pass() {
    assert_unasked(&[
        ("search", json!({"query": "how to delete a branch; rm -rf"})),
        ("search_issues", json!({"q": "action: delete", "filter": {"action": "delete"}, "sort": "created"})),
        ("list_events", json!({"filters": {"operation": "DELETE", "method": "POST"}})),
        ("get_issue", json!({"id": 7, "action": "get"})),
        ("fetch", json!({"url": "https://example.org/docs/delete-a-branch", "method": "GET"})),
        ("fetch", json!({"url": "https://example.org", "headers": {"accept": "text/html"}, "format": "markdown"})),
        ("read_file", json!({"path": "/home/me/delete.txt", "mode": "text"})),
        ("read_file", json!({"filename": "drop.sql"})),
        ("get_report", json!({"output": "json", "destination": "New York"})),
        ("get_directions", json!({"origin": "Paris", "destination": "St. Gallen"})),
        ("get_country", json!({"code": "US", "expression": "sqrt(2) + 1"})),
        ("calculate", json!({"expression": "(1+2)*3"})),
        ("explain_command", json!({"command": "rm -rf /"})),
        ("validate_query", json!({"command": "drop table x", "action": "delete"})),
        ("get_status", json!({"command": "git status --short | head -n 5"})),
        ("browser_tabs", json!({"action": "list"})),
        ("browser_tabs", json!({"action": "new"})),
        ("browser_tabs", json!({"action": "select", "index": 1})),
        ("mcp__playwright__browser_tabs", json!({"action": "close", "index": 1})),
        ("browser_take_screenshot", json!({"filename": "page.png", "fullPage": true})),
        ("browser_take_screenshot", json!({"filename": "shots/page-1.JPEG"})),
        ("git_branch", json!({"repo_path": "/x", "branch_type": "local", "contains": "HEAD"})),
        ("git_tag", json!({"mode": "list"})),
        (
            "sequentialthinking",
            json!({"thought": "delete it?", "nextThoughtNeeded": true, "thoughtNumber": 1, "isRevision": true}),
        ),
        ("emulate", json!({"networkConditions": "Slow 3G", "colorScheme": "dark"})),
        ("browser_snapshot", json!({})),
        ("get_weather", json!({"city": "Sendai", "mode": "daily"})),
        ("list_products", json!({"items": [{"name": "order form", "price": 1}], "options": {"mode": "fast"}})),
        ("wait_for", json!({"idle": 2, "then": {"cmd": "get_tree", "args": {"depth": 3}}})),
        ("press_action", json!({"action": "attack"})),
    ]);
}

#[test]
fn commands_that_read_run_without_a_question() {
    let shell = |command: &str| ("run_command", json!({"command": command}));
    let mut calls: Vec<(&str, Value)> = [
        "ls -la /tmp",
        "cd src && ls | wc -l",
        "git log --oneline -5",
        "git -C /x diff HEAD~1 -- a.rs",
        "cat a 2>/dev/null | sort | uniq -c",
        "grep -rn 'a|b' src >/dev/null 2>&1",
        "find . -name '*.rs' -type f | xargs grep -l foo",
        "echo $(git rev-parse HEAD)",
        "for f in *.txt; do head -n 1 \"$f\"; done",
        "if [ -f a ]; then cat a; else echo none; fi",
        "sed -n '1,20p' a",
        "sed 's/a/b/g' a",
        "awk '{print $1}' a",
        "LC_ALL=C sort a",
        "env LANG=C ls",
        "x=$(pwd); echo \"$x\"",
        "f() { cat \"$1\"; }; f a",
        "cat <<E\nrm x\nE",
        "timeout 5 ls",
        "bash -lc 'ls | wc'",
        "while read -r line; do echo \"$line\"; done < a",
        "/usr/bin/wc -l a",
        "command -v cargo",
        "# what is there\nls",
        "set -euo pipefail; ls",
        "test -n \"$X\" && pwd",
        "python3 --version",
        "tail -n 3 a &",
        "[[ -f a ]] && ls",
        "stat a;",
        "docker ps -a",
        "kubectl get pods -o wide",
        "date +%s",
        "printf '%s\\n' a",
        "jq '.a > 1' x.json",
        "ls | uniq -c",
        "awk '$3 > 5' a",
        "awk 'NR>=10 {print $1}' a",
        "awk '$3 > 5 {print $1}' a",
        "sed -n '/a/,/b/p' a",
        "sed -e 's/a/b/' a",
        "sed '/a/s/x/y/g; 1,/b/d' a",
        "date -d yesterday +%F",
        "date -Iseconds",
        "git branch --list x",
        "git tag -l 'v*'",
        "git check-ignore a",
        "git config user.name",
        "git reflog -n 5",
        "tar tf a.tar",
        "unzip -l a.zip",
        "ls | tee /dev/null",
        "[ \"$x\" = y ]",
        "[ ! -n \"$x\" ] || test -f \"$1\" || [ 3 -gt 2 ]",
        "printf '%s %5.2f%%\\n' 3 4",
        "printf '%s\\n' \"$x\" $y",
        "wait; wait 12 %1; exit 1",
        "kubectl get pods -A --output=json",
        "npm ls --depth=0 --json",
        "pip list --outdated --format=json",
        "while IFS= read -r line; do echo \"$line\"; done < f",
        "ls; exit $?",
        "sleep 1 & wait $!",
        "n=$(ls | wc -l); [ \"$n\" -gt 5 ] && echo many",
        "i=0; while [ $i -lt 3 ]; do echo \"$i\"; i=$((i+1)); done",
        "n=3; [[ $n -eq 3 ]] && printf '%d\\n' \"$n\"",
        "cargo tree --depth 1 -p serde",
        "cargo metadata --no-deps --format-version=1",
    ]
    .map(shell)
    .to_vec();
    calls.extend([
        ("run_command", json!({"command": "ls", "timeout": 5, "cwd": "/tmp", "description": "shows files"})),
        ("bash", json!({"cmd": "ls"})),
        ("run_command", json!({"command": "git", "args": ["log", "-1"]})),
        ("run_command", json!({"command": ["grep", "-r", "a b", "src"]})),
        ("run_commands", json!({"commands": ["ls", "pwd"]})),
        ("execute_sql", json!({"sql": "SELECT a, count(*) FROM t WHERE b = 'drop' GROUP BY a", "database": "x"})),
        ("execute_sql", json!({"sql": "select 1; select lower(a) from t -- all\n", "limit": 5})),
        ("run_sql", json!({"statements": ["SHOW TABLES", "EXPLAIN SELECT 1"]})),
        ("execute_sql", json!({"sql": "PRAGMA table_info(users)"})),
        ("execute_sql", json!({"sql": "SHOW CREATE TABLE t"})),
        ("execute_sql", json!({"sql": "EXPLAIN (ANALYZE, BUFFERS, FORMAT JSON) SELECT 1"})),
        ("execute_sql", json!({"sql": "SELECT sqlite_version(), current_setting('a'), jsonb_pretty(b) FROM t"})),
        ("execute_sql", json!({"sql": "SELECT a FROM t WHERE b = '{\"price\": \"5 \u{20ac}\"}'"})),
    ]);
    assert_unasked(&calls);
}

#[test]
fn commands_that_do_more_than_read_need_approval() {
    let shell = |command: &str| ("run_command", json!({"command": command}));
    let mut calls: Vec<(&str, Value)> = [
        "",
        "rm -rf /",
        "ls; rm x",
        "ls && rm x",
        "ls || rm x",
        "ls | sh",
        "ls & rm x",
        "ls\nrm x",
        "ls\rrm x",
        "(rm x)",
        "{ rm x; }",
        "! rm x",
        "cat a > b",
        "cat a >> b",
        "cat a >| b",
        "cat a &> b",
        "cat a >& b",
        "cat a <> b",
        "> b",
        "2>x ls",
        "echo `rm x`",
        "echo $(rm x)",
        "echo \"$(rm x)\"",
        "echo \"${x:-$(rm x)}\"",
        "cat <(rm x)",
        "cat > >(tee b)",
        "cat < /dev/tcp/example.org/80",
        "/tmp/ls",
        "./ls",
        "\\rm x",
        "'rm' x",
        "r\"m\" x",
        "r''m x",
        "$'rm' x",
        "$x",
        "$(echo rm) x",
        "r{m,} x",
        "X=1 rm y",
        "X=rm; $X y",
        "PATH=/tmp ls",
        "LD_PRELOAD=./x ls",
        "PATH=/tmp; ls",
        "path=/tmp; ls",
        "export PATH=/tmp; ls",
        "git push",
        "git commit -m x",
        "git -c core.pager=sh log",
        "git log --output=x",
        "git log --outpu x",
        "git diff --ext-diff",
        "git grep -Osh x",
        "git branch -D x",
        "git stash",
        "git config user.name x",
        "git checkout .",
        "git remote add a b",
        "git reflog expire",
        "find . -delete",
        "find . -exec rm {} +",
        "find . -fprintf x y",
        "find . $x",
        "find . {-delete,}",
        "find . \"-del\"ete",
        "fd -x rm",
        "sort -o a b",
        "sort --outp=a b",
        "sort {-o,a} b",
        "sort --compress-program=sh a",
        "tee a",
        "uniq a b",
        "tree -o x",
        "xargs rm",
        "ls | xargs -I{} sh -c '{}'",
        "ls | xargs -n 1 sort",
        "env rm x",
        "env -S 'rm x'",
        "env PATH=/tmp ls",
        "nice rm x",
        "timeout 5 rm x",
        "command rm x",
        "exec rm x",
        "eval 'rm x'",
        ". ./x",
        "source x",
        "sudo ls",
        "bash x.sh",
        "bash -c 'rm x'",
        "sh -c \"ls; rm x\"",
        "bash <<E\nrm x\nE",
        "bash <<<'rm x'",
        "sed -i s/a/b/ x",
        "sed --in-place s/a/b/ x",
        "sed 'w x' a",
        "sed 's/a/b/w x' a",
        "sed 's/a/b/e' a",
        "sed '1e rm x' a",
        "sed -f x a",
        "awk 'BEGIN{system(\"rm x\")}'",
        "awk '{print > \"x\"}' a",
        "awk '{print | \"sh\"}' a",
        "awk -f x a",
        "awk -i inplace '{print}' a",
        "f() { rm x; }; f",
        "rm x; rm() { ls; }",
        "if false; then rm() { :; }; fi; rm x",
        "eval() { ls; }; eval 'rm x'",
        "f() { \"$@\"; }; f rm x",
        "for x in a; do rm $x; done",
        "while rm x; do ls; done",
        "case a in a) rm x;; esac",
        "if rm x; then ls; fi",
        "[[ -f $(rm x) ]]",
        "[ -v 'a[$(rm x)]' ]",
        "test -v 'a[$(rm x)]'",
        "echo $((a[$(rm x)]))",
        "x='a[$(rm x)]'; echo $((x))",
        "echo ${x@P}",
        "echo ${!x}",
        "printf -v PATH x",
        "read PATH",
        "read 'a[$(rm x)]'",
        "declare 'a[$(rm x)]=1'",
        "let 'a[$(rm x)]=1'",
        "trap 'rm x' EXIT",
        "alias ls=rm",
        "date -s 12",
        "date 01010101",
        "hostname x",
        "rg --pre sh x",
        "curl -X DELETE example.org",
        "dd of=x",
        "cp a b",
        "mv a b",
        "mkdir a",
        "touch a",
        "chmod 777 a",
        "kill 1",
        "python -c 'x'",
        "node -e 1",
        "npm install x",
        "docker rm x",
        "docker -H tcp://x ps",
        "kubectl delete pod x",
        "kubectl get pods --kubeconfig=x",
        "systemctl stop x",
        "coproc rm x",
        "time rm x",
        "select x in a; do rm x; done",
        "l\u{455}",
        "ls \u{0}",
        "ls *(e:'rm x':)",
        "echo (rm x)",
        "\"$(echo a # )\n rm x)\"",
        "cat <<E\n$(rm x)\nE",
        "unterminated 'quote",
        "echo $[1]",
        "yq -i '.a=1' x",
        "echo evil | uniq - /home/me/.bashrc",
        "uniq --skip-fields=1 - f",
        "uniq -- -a -b",
        "uniq a -c",
        "x='-v q[$(touch${IFS}/tmp/p)] -o 1'; test $x == 1",
        "[ $x = 1 ]",
        "[ -n $x ]",
        "test -z $x",
        "[ \"$@\" = 1 ]",
        "[ \"$x\" = 1 -a 1 = 1 ]",
        "wait -n -p 'a[$(touch /tmp/p)]'",
        "wait -n -p PATH; ls",
        "printf '%n' PATH",
        "printf '%s%%%-5n' PATH PATH",
        "printf '\\45n' PATH",
        "printf '%*s' 'a[$(rm x)]' b",
        "printf %d 'a[$(rm x)]'",
        "printf %d \"$x\"",
        "[ 'a[$(rm x)]' -eq 1 ]",
        "[ a = a -a 'a[$(rm x)]' -eq 1 ]",
        "shift 'a[$(rm x)]'",
        "exit 'a[$(rm x)]'",
        "return $x",
        "exit $(echo 1)",
        "[ \"$n\" -gt 5 ]",
        "echo $((i+1))",
        "i='a[$(rm x)]'; echo $((i+1))",
        "i=1; i='a[$(rm x)]'; echo $((i+1))",
        "i=1; read i; echo $((i+1))",
        "n=$(echo 'a[$(rm x)]'); [ \"$n\" -gt 5 ]",
        "true=1; echo $((reboot)|(reboot))",
        "reboot=1; echo $((reboot)|(reboot))",
        "reboot=1; echo $(($(reboot)))",
        "wait \"$x\"",
        "cargo build",
        "cargo tree --config x",
        "cargo metadata --manifest-path x",
        "read -t 'a[$(rm x)]' y",
        "{ ls } always { rm x; }",
        "functions=(ls 'rm x'); ls",
        "options=(x y); ls",
        "pip list --log F",
        "pip list --cache-dir=F",
        "pip list -i https://example.org",
        "kubectl get pods --profile=cpu --profile-output=F",
        "kubectl get pods -s https://example.org",
        "kubectl get --raw /x",
        "npm ls --logs-dir F",
        "npm view x --registry=https://example.org",
        "IFS=x ls",
        "awk '$3 > 5 {print > \"x\"}' a",
        "awk '{print >> \"x\"}' a",
        "awk '{print >=1 > \"x\"}' a",
        "sed p -e 'w x'",
        "sed -e p -e 'w x' a",
        "sed -n '/a/,/b/w x' a",
        "sed '/a/s/x/y/w z' a",
        "sed -e",
        "sed -e p -i a",
        "date -d x -s y",
        "git branch --list -D x",
        "git branch x --list",
        "git tag -l -d x",
        "git config user.name x",
        "git config --unset user.name",
        "git reflog -n 5 expire",
        "tar tf host:a",
        "tar tf a --to-command=sh",
        "tar xf a",
        "unzip a",
        "tee /dev/null a",
    ]
    .map(shell)
    .to_vec();
    calls.extend([
        ("run_command", json!({"command": "git", "args": ["push"]})),
        ("run_command", json!({"command": "echo", "args": ["; rm x"]})),
        ("run_command", json!({"command": "echo", "args": "a; rm x"})),
        ("run_command", json!({"command": ["rm", "x"]})),
        ("run_command", json!({"command": ["bash", "-c", "rm x"]})),
        ("run_command", json!({"command": "ls", "args": [{"rm": 1}]})),
        ("run_command", json!({"command": "ls", "cmd": "rm x"})),
        ("run_command", json!({"command": "ls", "shell": "/tmp/x"})),
        ("run_command", json!({"command": "ls", "stdin": "x"})),
        ("run_command", json!({"command": "cat a | ".repeat(2000) + "cat"})),
        ("run_commands", json!({"commands": ["ls", "rm x"]})),
        ("run_powershell", json!({"command": "ls"})),
        ("run_python", json!({"script": "ls"})),
        ("run_command", json!({"timeout": 5})),
        ("execute_sql", json!({"sql": "DELETE FROM t"})),
        ("execute_sql", json!({"sql": "SELECT 1; DROP TABLE t"})),
        ("execute_sql", json!({"sql": "SELECT 1 SHUTDOWN"})),
        ("execute_sql", json!({"sql": "SELECT s.nextval FROM dual"})),
        ("execute_sql", json!({"sql": "SELECT * FROM t FOR SHARE"})),
        ("execute_sql", json!({"sql": "EXPLAIN (ANALYZE) DELETE FROM t"})),
        ("execute_sql", json!({"sql": "PRAGMA journal_mode(OFF)"})),
        ("execute_sql", json!({"sql": "SELECT 1eSHUTDOWN"})),
        ("execute_sql", json!({"sql": "\\! rm x"})),
        ("execute_sql", json!({"sql": "SELECT pg_terminate_backend(1)"})),
        ("execute_sql", json!({"sql": "SELECT \"pg_terminate_backend\"(1)"})),
        ("execute_sql", json!({"sql": "SELECT pg_terminate_backend/**/(1)"})),
        ("execute_sql", json!({"sql": "SELECT lo_export(1, 'x')"})),
        ("execute_sql", json!({"sql": "SELECT public.count(1)"})),
        ("execute_sql", json!({"sql": "SELECT * FROM pg_read_file('x')"})),
        ("execute_sql", json!({"sql": "SELECT nextval('s'), sleep(9)"})),
        ("execute_sql", json!({"sql": "SELECT * INTO u FROM t"})),
        ("execute_sql", json!({"sql": "WITH x AS (DELETE FROM t RETURNING 1) SELECT * FROM x"})),
        ("execute_sql", json!({"sql": "EXPLAIN ANALYZE DELETE FROM t"})),
        ("execute_sql", json!({"sql": "COPY (SELECT 1) TO PROGRAM 'sh'"})),
        ("execute_sql", json!({"sql": "SELECT 1 /*! ; DROP TABLE t */"})),
        ("execute_sql", json!({"sql": "SELECT 'a\\' ; DROP TABLE t; -- '"})),
        ("execute_sql", json!({"sql": "SELECT 1", "command": "rm x"})),
        ("execute_sql", json!({"sql": ["SELECT 1", "DROP TABLE t"]})),
        ("execute_sql", json!({"sql": format!("SELECT {}1{}", "(".repeat(3000), ")".repeat(3000))})),
    ]);
    assert_asked(&calls);
}

#[test]
fn addresses_are_parsed_as_browsers_do() {
    let open = |url: Value| ("browser_navigate", json!({"url": url}));
    let asked = [
        "javascript:alert(1)",
        " javascript:alert(1)",
        "java\tscript:alert(1)",
        "java\nscript:alert(1)",
        "\u{1}javascript:alert(1)",
        "JAVASCRIPT:alert(1)",
        "vbscript:x",
        "data:text/html,<script>x</script>",
        "file:///etc/passwd",
        "blob:https://example.org/x",
        "view-source:javascript:alert(1)",
        "about:config",
        "chrome://settings",
        "https://example.org/items/delete?id=7",
        "https://example.org/items/%64elete",
        "https://example.org/items/%2564elete",
        "https:\\\\example.org\\delete",
        "https://example.org/?a=delete",
        "https://example.org/x?action=%64elete",
        "https://example.org/#/delete/7",
        "https://example.org/a%2Fdelete",
        "/items/delete",
        "https://exa mple.org",
        "https://",
        "example.org/unsubscribe",
    ];
    assert_asked(&asked.map(|url| open(json!(url))));
    assert_asked(&[
        open(json!(["https://example.org", "javascript:alert(1)"])),
        open(json!("https://example.org/user.delete")),
        open(json!("https://example.org/x?cmd=drop")),
        open(json!("https://example.org/logout")),
        open(json!("https://example.org/delete-account.html")),
        open(json!({"href": "javascript:alert(1)"})),
        ("browser_navigate", json!({"uri": "javascript:alert(1)"})),
        ("browser_navigate", json!({"Address": "java\tscript:alert(1)"})),
        ("goto", json!({"link": "data:text/html,x"})),
        ("goto", json!({"target": "file:///etc/passwd"})),
        ("goto", json!({"whatever": "javascript:alert(1)"})),
    ]);
    let unasked = [
        "https://example.org/orders/7?q=a",
        "example.org",
        "localhost:8000/x",
        "http://127.0.0.1:8000/",
        "about:blank",
        "https://example.org/deleted-items",
        "example.org:8080/a",
        "https://example.org/a%20b#top",
        "https://bücher.example/ä",
    ];
    assert_unasked(&unasked.map(|url| open(json!(url))));
}

#[test]
fn typing_and_keys_that_submit_need_approval() {
    let typed = |args: Value| {
        let mut all = json!({"element": "Message", "ref": "e4"});
        all.as_object_mut().unwrap().extend(args.as_object().unwrap().clone());
        ("browser_type", all)
    };
    let press = |key: Value| ("browser_press_key", json!({"key": key}));
    assert_asked(&[
        typed(json!({"text": "a\nb"})),
        typed(json!({"text": "a\rb"})),
        typed(json!({"text": "a\u{2028}"})),
        typed(json!({"text": "a\u{e007}"})),
        typed(json!({"text": "a{ENTER}"})),
        typed(json!({"text": "a{enter 2}b"})),
        typed(json!({"text": "x", "submit": true})),
        typed(json!({"text": "x", "submit": "true"})),
        typed(json!({"text": "x", "submit": 1})),
        typed(json!({"text": "x", "Submit": "yes"})),
        typed(json!({"text": "x", "submitKey": "Enter"})),
        typed(json!({"text": "x", "press_enter": true})),
        typed(json!({"text": "x", "element": "Research proposal", "submit": true})),
        ("browser_fill_form", json!({"fields": [{"name": "a", "type": "textbox", "ref": "e1", "value": "x\n"}]})),
        (
            "browser_fill_form",
            json!({"fields": [{"name": "a", "type": "textbox", "ref": "e1", "value": "x"}, {"name": "Pay automatically", "type": "checkbox", "ref": "e2", "value": "true"}]}),
        ),
        ("browser_type", json!({"element": "Delete my account", "ref": "e4", "text": "x"})),
        ("browser_select_option", json!({"element": "What next?", "ref": "e4", "values": ["Delete my account"]})),
        ("browser_drag", json!({"startElement": "Letter", "startRef": "e1", "endElement": "Trash", "endRef": "e2"})),
        press(json!("Enter")),
        press(json!("enter")),
        press(json!("NumpadEnter")),
        press(json!("Return")),
        press(json!("ctrl+m")),
        press(json!("Control+Enter")),
        press(json!("ctrl-j")),
        press(json!("^M")),
        press(json!("\u{e007}")),
        press(json!("{ENTER}")),
        press(json!("KEY_ENTER")),
        press(json!("a Enter")),
        press(json!(["a", "Enter"])),
        press(json!(["Control", "m"])),
        press(json!(13)),
        press(json!("13")),
        press(json!("KEYCODE_66")),
        press(json!("Control+0x0D")),
        ("press_key", json!({"key": "m", "modifiers": ["Control"]})),
        ("press_key", json!({"keys": ["Shift", "Delete"]})),
        ("press_key", json!({})),
    ]);
    assert_unasked(&[
        typed(json!({"text": "delete everything", "submit": false, "slowly": true})),
        typed(json!({"text": "x", "submit": "false"})),
        typed(json!({"text": "x", "element": "Search the shop", "submit": true})),
        typed(json!({"text": "x < y {z}"})),
        (
            "browser_fill_form",
            json!({"fields": [{"name": "Delete reason", "type": "textbox", "ref": "e1", "value": "x"}]}),
        ),
        ("browser_select_option", json!({"element": "Colour", "ref": "e4", "values": ["red"]})),
        press(json!("ArrowDown")),
        press(json!("a")),
        press(json!("7")),
        press(json!("F12")),
        press(json!("Control+c")),
    ]);
}

#[test]
fn duplicate_keys_are_denied_at_any_depth() {
    for args in [
        r#"{"a":1,"a":2}"#,
        r#"{"method":"GET","METHOD":"DELETE"}"#,
        r#"{"options":{"method":"GET","Method":"DELETE"}}"#,
        r#"{"a":[[{"b":{"c":1,"\u0063":2}}]]}"#,
        r#"{"then":{"cmd":"get_tree","cmd":"delete_file"}}"#,
        r#"{"a":{"ſ":1,"S":2}}"#,
    ] {
        let record = play(&[], &format!("{{\"tool\":\"fetch\",\"args\":{args}}}\n")).records().remove(0);
        assert_eq!(
            (&record["kind"], &record["data"]["rule"]),
            (&json!("denied"), &json!("builtin.ambiguous")),
            "{args}"
        );
    }
    let fine = r#"{"tool":"fetch","args":{"a":{"x":1},"b":{"x":1},"c":[{"x":1},{"x":1}]}}"#;
    assert_eq!(play(&[], &format!("{fine}\n")).records()[0]["policy"]["verdict"], "allow");
}

#[test]
fn deeply_nested_calls_are_judged_within_bounded_stack_and_time() {
    let nested = |open: &str, close: &str, count: usize| {
        format!("{{\"tool\":\"wait_for\",\"args\":{}{{}}{}}}\n", open.repeat(count), close.repeat(count))
    };
    let before = std::time::Instant::now();
    for (open, close) in [
        (r#"{"then":{"cmd":"wait_for","args":"#, "}}"),
        (r#"{"steps":[{"tool":"get","args":"#, "}]}"),
        (r#"{"a":"#, "}"),
        (r#"{"a":[[["#, "]]]}"),
    ] {
        for count in [50, 100] {
            let records = play(&[], &nested(open, close, count)).records();
            assert!(!records.is_empty(), "{open} {count}");
        }
    }
    let long = format!("{{\"tool\":\"run_command\",\"args\":{{\"command\":\"{}\"}}}}\n", "(".repeat(1 << 20));
    assert_eq!(play(&[], &long).records()[0]["policy"]["rule"], "builtin.run");
    assert!(before.elapsed().as_secs() < 20, "{:?}", before.elapsed());
}

#[test]
fn shell_text_that_the_parser_fails_on_needs_approval_and_is_not_printed() {
    let played = play(&[], "{\"tool\":\"run_command\",\"args\":{\"command\":\"ls 99999999999999999999>x\"}}\n");
    let records = Vec::from_iter(played.records());
    assert_eq!(records[0]["policy"]["verdict"], "confirm", "{records:?}");
    assert_eq!(played.stderr, "");
}
