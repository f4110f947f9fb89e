//! The words in tools' names, by part of speech. Words only: names of complete tools do not belong here.

use crate::policy::detector::ActionKind;
use std::collections::HashMap;
use std::sync::LazyLock;

/// The sense of a word in a tool's name.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Sense {
    /// A verb that reads, and is not a noun: `get`.
    Read,
    /// A verb that reads, and also a noun: `list`, `search`.
    ReadOrNoun,
    /// The object that a name without a verb shows, if it is the last word: `order_status`.
    Shown,
    /// A verb that has an effect, and the places where it is a noun.
    Effect(Option<ActionKind>, Noun),
    /// A verb that runs the code in the arguments: `execute`.
    Run,
    /// A verb that runs the query in the arguments.
    Query,
    /// The language of the arguments, or the program that runs them: `sql`, `bash`.
    Code,
    /// A verb that activates an element of a page.
    Activate,
    /// A verb that types or chooses.
    Enter,
    /// A verb that presses keys.
    Press,
    /// A verb that leads to another page.
    Navigate,
    /// A part of a page, or a program that shows one.
    Screen,
    /// Another noun.
    Thing,
}

/// Where a verb that has an effect is a noun. At the head of a name it never is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Noun {
    /// Nowhere: `search_delete_index` deletes.
    Never,
    /// As the last word after a verb that reads: `list_send`, but not `search_send_email`.
    AtEnd,
    /// After a verb that reads and is not a noun: `get_update`, but not `list_update`.
    AfterVerb,
    /// After any verb that reads, and before one: `search_order`, `order_get`.
    Beside,
}

/// The listed word and its sense. A plural is a thing, unless it is listed.
pub(super) fn look_up(word: &str) -> Option<(&'static str, Sense)> {
    static WORDS: LazyLock<HashMap<&'static str, Sense>> = LazyLock::new(|| {
        let of = |words: &'static str, sense| words.split_whitespace().map(move |word| (word, sense));
        let effects = EFFECTS.iter().flat_map(|&(kind, noun, words)| of(words, Sense::Effect(kind, noun)));
        let others = OTHERS.iter().flat_map(|&(sense, words)| of(words, sense));
        effects.chain(others).collect()
    });
    WORDS.get_key_value(word).map(|(word, sense)| (*word, *sense))
}

/// Whether a word is about money or an order. Compounds with a noun count, too: `createpayment`.
pub(super) fn is_about_payment(word: &str) -> bool {
    let is_listed = |word: &str| {
        word == "order"
            || matches!(
                look_up(word),
                Some((
                    _,
                    Sense::Effect(Some(ActionKind::Pay), _) | Sense::Effect(Some(ActionKind::Order), Noun::Never)
                ))
            )
    };
    ["payment", "invoice", "purchase", "checkout"].iter().any(|noun| word.contains(noun))
        || is_listed(word)
        || word.strip_suffix('s').is_some_and(is_listed)
}

/// Whether a word is about access: `password`, `apikey`, `permissions`.
pub(super) fn is_about_access(word: &str) -> bool {
    const NOUNS: &[&str] =
        &["access", "acl", "admin", "iam", "key", "mfa", "oauth", "otp", "owner", "passkey", "role", "sso", "token"];
    let ends = ["apikey", "credential", "passphrase", "password", "permission", "privilege", "secret"];
    let word = word.strip_suffix('s').unwrap_or(word);
    NOUNS.contains(&word) || ends.iter().any(|noun| word.ends_with(noun))
}

/// The second words of verbs with two: `roll back`, `log out`.
pub(super) const PARTICLES: &[&str] = &["back", "down", "in", "off", "on", "out", "over", "up"];

/// Words between nouns: what follows tells nothing about the verb's object.
pub(super) const PREPOSITIONS: &[&str] = &["as", "at", "by", "for", "from", "in", "of", "on", "to", "with"];

/// Prefixes that make another verb of one: `unassign`, `recreate`, `autofix`.
pub(super) const VERB_PREFIXES: &[&str] = &["auto", "de", "dis", "re", "un"];

/// The talk of an agent with the person that it works for, after `assistant`: it changes no world.
pub(super) const TALKING: &[&str] = &[
    "answer", "ask", "done", "finish", "message", "note", "plan", "progress", "question", "reply", "respond", "say",
    "status", "tell", "think", "thought", "thoughts",
];

/// Verbs that read with these objects, and change others: `resolve_library_id`, but `resolve_incident`.
pub(super) const READING_OF: &[(&str, &str)] = &[
    (
        "convert",
        "amount base color coordinates currencies currency date distance length number temperature time timestamp \
         timezone unit units weight",
    ),
    ("export", "csv image json markdown pdf png svg thumbnail"),
    (
        "generate",
        "chart deeplink diagram markdown name names palette passphrase password query report schema sql summary type types \
         uri url uuid",
    ),
    ("open", "document documents file files node nodes note notes"),
    ("plan", "journey route trip workflow"),
    (
        "resolve",
        "address alias citation coordinates dns doi domain handle host hostname id identifier ids ip library location \
         name names package path place reference redirect redirects symbol uri url urls username",
    ),
    ("take", "screenshot screenshots snapshot"),
];

/// Verbs that have effects.
const EFFECTS: &[(Option<ActionKind>, Noun, &str)] = &[
    (
        Some(ActionKind::Delete),
        Noun::Never,
        "clean cleanup clear del delete deprovision destroy discard drop eliminate empty eradicate erase evict \
         expunge flush flushall flushdb forget hdel lpop lrem ltrim nuke obliterate prune purge remove reset rm rmdir \
         rpop scrub shred spop srem truncate uninstall unlink wipe zrem",
    ),
    (Some(ActionKind::Delete), Noun::AfterVerb, "archive trash"),
    (Some(ActionKind::Send), Noun::Never, "broadcast dm escalate notify respond sms tweet"),
    (Some(ActionKind::Send), Noun::AtEnd, "forward invite reply send share upload"),
    (Some(ActionKind::Send), Noun::Beside, "alert call comment contact email mail message report"),
    (Some(ActionKind::Pay), Noun::Never, "borrow buy donate pay redeem repay sell settle withdraw"),
    (Some(ActionKind::Pay), Noun::AtEnd, "charge"),
    (
        Some(ActionKind::Pay),
        Noun::Beside,
        "bid capture checkout credit deposit payout purchase refund spend stake swap tip trade transfer",
    ),
    (Some(ActionKind::Order), Noun::Never, "hire rent reserve"),
    (Some(ActionKind::Order), Noun::Beside, "book order schedule"),
    (
        Some(ActionKind::Confirm),
        Noun::Never,
        "accept acknowledge agree approve confirm consent decline deny dismiss finalise finalize reject sign",
    ),
    (Some(ActionKind::Submit), Noun::Never, "checkin enroll signup submit subscribe"),
    (Some(ActionKind::Submit), Noun::AfterVerb, "apply register"),
    (Some(ActionKind::Publish), Noun::Never, "announce publish unpublish"),
    (Some(ActionKind::Publish), Noun::AfterVerb, "deploy launch push"),
    (Some(ActionKind::Publish), Noun::Beside, "merge post release"),
    (Some(ActionKind::Overwrite), Noun::Never, "migrate overwrite replace restore revert rollback upsert write"),
    (Some(ActionKind::CancelOrder), Noun::Never, "abort cancel quit terminate unsubscribe"),
    (
        Some(ActionKind::Revoke),
        Noun::Never,
        "ban deactivate demote disable disallow expel invalidate kick logout mute revoke signout suspend",
    ),
    (Some(ActionKind::Revoke), Noun::AfterVerb, "lock"),
    (Some(ActionKind::Revoke), Noun::Beside, "block"),
    (
        Some(ActionKind::Grant),
        Noun::Never,
        "activate allow authorise authorize elevate enable grant impersonate login permit promote signin unlock",
    ),
    (Some(ActionKind::Install), Noun::Never, "install"),
    (Some(ActionKind::Install), Noun::AfterVerb, "upgrade"),
    (Some(ActionKind::Run), Noun::Never, "invoke kill reboot restart shutdown spawn"),
    (Some(ActionKind::Run), Noun::AfterVerb, "boot crawl dispatch start stop trigger"),
    (Some(ActionKind::Run), Noun::Beside, "build test"),
    (
        None,
        Noun::Never,
        "add adjust alter amend append arrange assign attach checkoff chmod chown configure cp create decrypt detach disassociate \
         disconnect edit embed encrypt enqueue expire fail forge gunzip gzip hide hset implement incr increment ingest inject \
         insert lpush maintain make manage mark modify move mset mutate onboard organise organize patch mv perform persist \
         populate prioritise prioritize provision put raise rebuild reconcile redo rename rotate rpush sadd sanitise \
         sanitize save scaffold setex star toggle train transcode undo unmark unzip vacuum zadd",
    ),
    (None, Noun::AtEnd, "close copy duplicate set shift"),
    (None, Noun::AfterVerb, "control draft export highlight import pause refresh resize resume scale sync update use"),
    (
        None,
        Noun::Beside,
        "annotate associate backup bind bridge change clone commit complete connect convert delegate design draw \
         exchange expand extend favorite fix flag follow format generate group handle index issue join label leave like link \
         load mint mount note open partition pin plan play process produce prompt pull queue rate record render request resolve \
         review roll route seed setup snapshot split stage store style switch tag take track turn vote yield zip",
    ),
];

const OTHERS: &[(Sense, &str)] = &[
    (
        Sense::Read,
        "aggregate analyse analyze appraise approximate are ask assess autocomplete blame browse calculate can cat classify \
         compare compute correlate critique dbsize decode derive describe detect determine diagnose dig discover display \
         distinguish divide does echo emulate encode enumerate estimate examine exists expect explain explore extract fetch find \
         forecast gather gauge geocode get getall glob grep guess has head hello hexists hget hgetall hkeys hlen hmget hover \
         hstrlen hvals identify infer inquire inspect interpolate introspect investigate is lint llen locate lookup lrange ls \
         measure mget multiply nslookup observe paginate parse peek ping poll predict proofread pwd quantify rank read reason \
         recall recap recognise recognize recommend research retrieve scard scrape scroll seek show simulate sismember skim \
         sleep smembers spellcheck stat strlen subtract suggest sum summarise summarize tail tally think tokenise tokenize \
         traceroute transcribe translate ttl unwatch validate verify visualise visualize wait watch weigh when which who whoami \
         whois xlen xrange xrevrange zcard zoom zrange zrank zscore",
    ),
    (
        Sense::ReadOrNoun,
        "audit average check count diff focus list look match monitor outline preview probe profile sample scan \
         search survey trace view",
    ),
    (
        Sense::Shown,
        "availability balance balances catalog catalogue context definition details directions docs documentation \
         elevation events feed freebusy guide headlines health help history html id info information insights \
         leaderboard log logs matrix messages metadata metrics news overview performance price prices ps quota quote quotes \
         ranking rankings rates replies requests schema screenshot size standings state statistics stats status \
         summary thinking time timeline title tools top transcript transcripts tree trends url usage version weather",
    ),
    (Sense::Run, "eval evaluate exec execute interpret run"),
    (Sense::Query, "query"),
    (
        Sense::Code,
        "bash cmd code command commands cypher interpreter javascript powershell python script sh shell sparql sql \
         subprocess terminal zsh",
    ),
    (Sense::Activate, "act click dblclick doubleclick drag select swipe tap touch uncheck"),
    (Sense::Enter, "enter fill input type typing"),
    (Sense::Press, "hotkey keypress press"),
    (Sense::Navigate, "back go goto navigate reload tab tabs visit"),
    (
        Sense::Screen,
        "banner banners browser element overlay page pages popup puppeteer playwright screen viewport window",
    ),
    (
        Sense::Thing,
        "access account action activity address advanced agent ai airline airport airtable alarm all android \
         anthropic apache apartment api app application approval article artifact arxiv asana asset atlassian \
         attachment aws azure backlog bank bans batch billing binance bitbucket bitcoin blender board bot branch \
         browserbase bucket budget cache calendar campaign card cart certificate channel charging chart chat checkins \
         checklist chroma class client closing cloud cloudflare cloudwatch cluster coinbase collection column company \
         complex component config configuration confluence connection console container content conversation cost \
         coupon course cron crypto currency current customer dashboard data database datadog dataset date day db deep \
         deepl default demo deployment detailed device dictionary directory discord discussion distance dlq dms \
         docker document domain drive dropbox droplet duckdb dynamodb ec2 eks elasticsearch embedding embeds endpoint \
         engine entity environment error ethereum event exa excel feature field figma file filter finding firebase \
         firecrawl firewall flight flow folder form full function game gateway gcp git github gitlab gmail godot \
         google grafana graph graphite graphql hash helm holiday home host hotel house hubspot huggingface iam image \
         inbox incident instance integration inventory invoice ios ip item jenkins jira job kafka kernel key \
         knowledge kubectl kubernetes lambda langfuse language latest law lead legal lesson library lighthouse line \
         linear linkedin listing loan local location logins loki lyrics machine mailbox maps market meal media \
         meeting member memory menu mergerequest mergerequests metric microsoft milestone milvus model module mongo \
         mongodb movie moving music mutes my mysql namespace neo4j neon netlify network new next node \
         notification notion npm nuget nutrition object obsidian okta old onboarding onedrive openai opensearch \
         option organisation organization os outbox outlook package pagerduty pandas paper parameter part patches \
         patent path patient payment permission perplexity person pet phone photo pinecone pipeline place player \
         plugin pod podcast policy pollen port portfolio postgres postgresql postman prefix prev pricing printer \
         private problem product project prometheus property provider public pullrequest pullrequests pypi qdrant \
         quick rabbitmq recent recipe reddit redis region registry related reminder repo repository reserves resource \
         response restaurant result role rollbacks room rule s3 salary salesforce school season secret section \
         security selling semantic sensor sentry sequential server service session setting settings sharepoint shop \
         shopify signups similar simple site skill slack snippet solana source space spec sport sports spotify sprint \
         sqlite stack stars stash station stock storage stream stripe subject subscription supabase system table \
         target task tavily tax team teams telegram template tenant terraform text thread ticket tide todo todoist \
         token tool topic total traffic training transaction trello trip tweets twilio twitter unity university \
         upstash uptime user valkey value variable vector vehicle vercel video virtual vm volume vpc wallet warehouse \
         web website whatsapp widget wiki wikipedia wolfram word wordpress work worker workflow workspace world \
         youtube zendesk zone",
    ),
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_word_is_in_one_list() {
        let effects = EFFECTS.iter().map(|(_, _, words)| *words);
        let words: Vec<&str> =
            effects.chain(OTHERS.iter().map(|(_, words)| *words)).flat_map(str::split_whitespace).collect();
        let mut seen = std::collections::HashSet::new();
        let twice: Vec<&&str> = words.iter().filter(|word| !seen.insert(**word)).collect();
        assert!(twice.is_empty(), "{twice:?}");
    }
}
