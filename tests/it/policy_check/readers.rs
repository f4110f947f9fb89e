//! Commands that only read, after the lists of other programs and public reports, and their neighbours with an effect.

use super::arguments::{assert_asked, assert_unasked};
use super::play;
use serde_json::{Value, json};
use std::fs::{create_dir_all, write};
use std::process::Command;

fn calls<'a>(tool: &'a str, texts: &str) -> Vec<(&'a str, Value)> {
    let texts = texts.lines().map(str::trim).filter(|text| !text.is_empty());
    texts.map(|text| (tool, json!({"command": text}))).collect()
}

#[test]
fn commands_of_programs_with_subcommands_pass_if_they_read() {
    assert_unasked(&calls(
        "Bash",
        r#"
        gh pr list --state open --json number,title | jq length
        gh pr view 1 --comments && gh pr checks 1
        gh api repos/o/r/pulls --jq '.[].title'
        git ls-remote --heads origin
        git branch -a --contains HEAD
        docker ps -a --filter 'name=web' --format '{{.Names}}'
        docker compose logs --tail=20 web 2>&1 | grep -i error
        kubectl get pods -n web -o wide
        kubectl get pods -o 'jsonpath={.items[*].metadata.name}'
        helm list -A
        systemctl status nginx --no-pager
        journalctl -u nginx -n 50 --no-pager
        aws ec2 describe-instances --query 'Reservations[].Instances[].InstanceId'
        gcloud compute instances list --format='value(name)'
        az vm list -g rg -o table
        terraform version
        npm view react versions --json
        pip show requests
        brew info wget
        go list -m all
        LC_ALL=C AWS_PAGER= aws s3 ls
        find . -name '*.rs' -exec grep -l TODO {} + | head
        find . -type l ! -exec test -e {} \; -print
        psql -c 'SELECT count(*) FROM orders' shop
        sqlite3 -readonly app.db .schema
        pwsh -NoProfile -c 'Get-ChildItem -Recurse | Select-Object -First 5'
        dpkg -l | grep nginx && apt-cache policy nginx
        openssl x509 -in cert.crt -noout -enddate
        "#,
    ));
    assert_asked(&calls(
        "Bash",
        r#"
        gh pr list --state open && gh pr merge 1
        gh pr view 1 --web
        gh api repos/o/r/issues -f title=x
        gh api "$URL"
        gh pr list *
        find . -exec sort -o {} {} \;
        find . -exec ls {} \; -delete
        psql -c '\! id' shop
        sqlite3 app.db '.shell id'
        pwsh -c 'Get-ChildItem | Remove-Item'
        apt-cache -o Dir::Bin::dpkg=./x policy nginx
        openssl x509 -in a -engine ./x.so
        git ls-remote 'ext::sh -c touch% x'
        git ls-remote $remote
        git branch --contains HEAD -D x
        git -c protocol.ext.allow=always ls-remote origin
        docker -H tcp://example.org ps
        docker ps $x
        docker compose -f other.yml ps
        kubectl get pods --kubeconfig ./x
        kubectl get *
        kubectl get pods | xargs kubectl delete
        helm template . --post-renderer ./x
        systemctl -H example.org status
        journalctl --vacuum-time=1s
        aws ec2 describe-instances --endpoint-url http://example.org
        gcloud projects list --flags-file=x
        az rest --url https://example.org
        terraform show
        npm view https://example.org/x
        pip list -f https://example.org
        brew info ./x.rb
        go list -toolexec=./x ./...
        go env -w GOFLAGS=-toolexec=./x
        GIT_PAGER='sh -c x' git log
        AWS_PAGER=./x aws s3 ls
        echo pods | xargs kubectl get
        "#,
    ));
}

#[test]
fn small_programs_and_settings_pass_if_they_read() {
    assert_unasked(&calls(
        "Bash",
        r#"
        awk '/a|b/' f
        awk '{if ($3>100) print}' f
        awk '$1 > 2 || $2 ~ /x|y/ {print $1, "a | b"}' f
        FILE=x; head "$FILE"
        FILE=a.txt && wc -l "$FILE"
        GIT_PAGER=cat git log -3
        PAGER=cat GIT_TERMINAL_PROMPT=0 git status
        env GIT_PAGER=cat git diff
        find . -executable -type f
        rg --pretty foo src
        curl -s localhost
        curl -sf http://localhost:8080/health | jq .status
        top -b -n1 | head
        "#,
    ));
    assert_asked(&calls(
        "Bash",
        r#"
        awk '/a|b/ {print > "f"}' f
        awk '{print | "sh"}' f
        awk '{if ($3>100) print > "f"}' f
        awk '/a|b/ {system("x")}' f
        awk '{for (;;print "x" > "f") {}}' f
        awk "/a|b/ $x" f
        PATH=x; ls
        IFS=x; ls
        GIT_DIR=x; git log
        LD_PRELOAD=./x; ls
        GIT_PAGER=less git log
        GIT_PAGER=./x git log
        GIT_PAGER=$x git log
        GIT_SSH_COMMAND=cat git ls-remote origin
        env GIT_PAGER=./x git log
        FILE=x rm "$FILE"
        find . -executable -delete
        find . -exec rm {} +
        find . -fprintf x y
        find . -fprint0 x
        rg --pretty --pre ./x foo
        rg --pre=./x foo
        curl -s example.org
        curl -s localhost.example.org
        curl -s localhost@example.org
        curl -s http://localhost:80@example.org
        curl -sL localhost
        curl -so x localhost
        curl -s localhost -o x
        curl -d a=b localhost
        curl -X DELETE localhost
        curl -s localhost/users/5/delete
        curl -K x localhost
        curl -s localhost example.org
        curl -x example.org localhost
        curl -sT x localhost
        "#,
    ));
}

#[test]
fn pipelines_of_powershell_pass_if_they_read() {
    let tool = "run_powershell";
    for spelled in ["PowerShell", "powershell", "pwsh", "power_shell"] {
        assert_unasked(&calls(spelled, "Get-ChildItem -Path src"));
        assert_asked(&calls(spelled, "Remove-Item x"));
    }
    assert_unasked(&calls(
        tool,
        "Get-ChildItem\nGet-ChildItem -Path src -Recurse | Select-Object -First 5\nGet-Content C:\\a\\b.txt",
    ));
    assert_asked(&calls(
        tool,
        "Remove-Item x\nGet-ChildItem | Remove-Item\nGet-ChildItem; rm x\nGet-Content \\\\evil\\x\nls > x\nls $(rm x)",
    ));
    // Text for PowerShell is none for a shell.
    assert_asked(&[("PowerShellExec", json!({"command": "grep -r x src"}))]);
}

#[test]
fn gh_and_az_are_asked_about_where_files_may_make_them_run_other_code() {
    let scratch = tempfile::tempdir().unwrap();
    let is_asked = |text: &str| {
        let call = json!({"tool": "Bash", "args": {"command": text, "cwd": scratch.path()}});
        let records = play(&[], &format!("{call}\n")).records();
        records.iter().any(|record| record.get("requires_approval").is_some())
    };
    let git = |arguments: &[&str]| Command::new("git").arg("-C").arg(scratch.path()).args(arguments).output().unwrap();
    git(&["init", "-q"]);
    let texts = ["gh pr list", "go list ./...", "git ls-remote origin"];
    assert!(texts.iter().all(|text| !is_asked(text)) && !is_asked("az vm list"));
    git(&["config", "core.fsmonitor", "touch x"]);
    assert!(texts.iter().all(|text| is_asked(text)));
    write(scratch.path().join("json.py"), "").unwrap();
    assert!(is_asked("az vm list") && !is_asked("aws s3 ls"));
    create_dir_all(scratch.path().join("sub")).unwrap();
    assert!(is_asked("cd sub && gh pr list"));
}
